import Testing

/// The conformance cases of apple §5 over HTTP, against the programs of one cluster and the stand-in Apple.
@Suite("Automatic Sign-In and Sign in with Apple", .serialized, .apple)
struct AppleTests {}
