/// States whether a call may be sent again after a failure that leaves its effect unknown (protobuf's `idempotency_level`).
public enum Idempotency: Sendable {
    /// Changes state: sent again only when it is certain that it was not begun.
    case unknown
    /// Changes nothing.
    case noSideEffects
    /// Twice is the same as once.
    case idempotent

    public var allowsRetry: Bool { self != .unknown }
}

/// Which method, without the types of its messages.
public struct MethodIdentity: Sendable {
    /// Full protobuf name of the service.
    public let service: String
    public let name: String
    public let idempotency: Idempotency

    public init(service: String, name: String, idempotency: Idempotency) {
        self.service = service
        self.name = name
        self.idempotency = idempotency
    }
}

/// A call with one answer.
public struct UnaryMethod<Request: Message, Response: Message>: Sendable {
    public let identity: MethodIdentity

    public init(service: String, name: String, idempotency: Idempotency) {
        identity = MethodIdentity(service: service, name: name, idempotency: idempotency)
    }

    public var service: String { identity.service }
    public var name: String { identity.name }
    public var idempotency: Idempotency { identity.idempotency }
}

/// A call with many answers.
public struct StreamMethod<Request: Message, Item: Message>: Sendable {
    public let identity: MethodIdentity

    public init(service: String, name: String, idempotency: Idempotency) {
        identity = MethodIdentity(service: service, name: name, idempotency: idempotency)
    }

    public var service: String { identity.service }
    public var name: String { identity.name }
    public var idempotency: Idempotency { identity.idempotency }
}
