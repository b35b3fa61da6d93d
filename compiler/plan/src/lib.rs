//! neap-plan
