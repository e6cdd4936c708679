import Testing

/// The conformance cases of rest-v1 §9 and mvpd §7 that concern a sign-in, over HTTP against the programs of one cluster.
@Suite("Conformance of the sign-in flow", .serialized, .cluster)
struct RestV1Tests {}
