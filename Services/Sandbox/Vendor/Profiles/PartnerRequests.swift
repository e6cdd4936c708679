internal import Clocks

/// SAML requests that were handed out for Apple's platform; each is answered once (rest-v2 §2.13).
struct PartnerRequests: Sendable {
    struct Request: Sendable {
        let client: String
        let device: DeviceIdentifier
        let serviceProvider: String
        let mvpd: String
        let madeAt: Timestamp
    }

    private static let life = Duration.seconds(600)
    private var requests = BoundedTable<String, Request>(limit: 10_000)

    mutating func add(_ id: String, _ request: Request) { requests[id] = request }

    func request(_ id: String) -> Request? { requests[id] }

    /// - Returns: The request, once, while it is not too old.
    mutating func take(_ id: String, at now: Timestamp) -> Request? {
        guard let request = requests[id] else { return nil }
        requests[id] = nil
        return now - request.madeAt < Self.life ? request : nil
    }
}
