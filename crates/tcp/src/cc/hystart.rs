//! HyStart++ (RFC 9406): leaving slow start before it loses. Not built yet.
