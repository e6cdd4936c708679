import Testing

/// Tests that need connections: one at a time, because some of them measure time.
@Suite(.serialized, .timeLimit(.minutes(1))) enum RpcTests {}
