/// The callee's finding for the service and method of a request.
public enum RequestedMethod: Hashable, Sendable {
    /// The index of its rule.
    case offered(Int)
    case unknown
    /// The caller's certificate is not on the list of the service.
    case notPermitted
}
