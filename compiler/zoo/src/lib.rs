//! neap-zoo
