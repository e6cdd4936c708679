import Testing

/// The acceptance cases of dashboard §9 that the administration API can show, over HTTP against the programs of a cluster of their own.
@Suite("Administration over HTTP", .serialized, .administration)
struct AdministrationApiTests {}
