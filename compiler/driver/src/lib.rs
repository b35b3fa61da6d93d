//! neap-driver
