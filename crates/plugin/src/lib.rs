//! Plug-ins.
