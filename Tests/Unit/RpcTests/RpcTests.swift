import Testing

/// What needs connections: one test at a time, because some of them are about time.
@Suite(.serialized, .timeLimit(.minutes(1))) enum RpcTests {}
