internal import Octets

/// Counts refusals, to warn an app that repeats a refused request (Z110; the servers do the same, rest-v1 §3.14).
struct DenialCounter: Sendable {
    /// From this many refusals within the window on.
    static let limit = 5
    static let window: Duration = .seconds(10)
    private static let resourceLimit = 64

    private var times: [Resource.ID: [Duration]] = [:]

    /// - Parameter now: The clock's uptime.
    /// - Returns: True when the resource was refused too often.
    mutating func isRepeated(_ resource: Resource.ID, at now: Duration) -> Bool {
        if times.count >= Self.resourceLimit { times = times.filter { now - ($0.value.last ?? .zero) < Self.window } }
        if times.count >= Self.resourceLimit { times = [:] }
        let recent = (times[resource, default: []] + [now]).filter { now - $0 < Self.window }.suffix(Self.limit + 1)
        times[resource] = Array(recent)
        return recent.count > Self.limit
    }

    mutating func forget(_ resource: Resource.ID) { times[resource] = nil }
}
