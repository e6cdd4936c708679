/// Under which condition a service is started.
struct LaunchCondition: Sendable {
    /// Variables beside the service's own.
    var environment: [String: String] = [:]
    /// Words before the program's own: a program that becomes it; `nil`: none.
    var wrapper: [String]?

    static let plain = LaunchCondition()
}
