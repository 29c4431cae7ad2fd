//! mk
