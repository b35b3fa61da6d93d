//! neap-testsuite
