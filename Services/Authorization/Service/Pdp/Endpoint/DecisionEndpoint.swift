internal import Catalogue
internal import Contracts
internal import Faults
internal import FoundationEssentials

/// How a decision point is reached: its address, whom to trust there, and how long to wait (mvpd §4.3).
public struct DecisionEndpoint: Hashable, Sendable {
    /// Calls under way at once unless the record says otherwise.
    static let standardCallsInFlight: UInt32 = 128

    public var url: String
    /// DER; empty: the system's.
    public var trustAnchors: [[UInt8]]
    /// Name of the client certificate to show; empty: none.
    public var clientCertificate: String
    public var connectTimeout: Duration
    /// From the request's last byte to the answer, and between two parts of the answer.
    public var responseTimeout: Duration
    /// For everything, a retry included.
    public var totalTimeout: Duration
    /// Calls, and so connections, at once.
    public var callsInFlight: Int

    /// - Throws: `internal` when the address is neither https nor http on loopback: an answer is believed because of TLS (mvpd §4.2).
    init(_ endpoint: AuthorizationEndpoint) throws(Fault) {
        guard let address = URLComponents(string: endpoint.url), let host = address.host?.lowercased(), !host.isEmpty,
            address.scheme == "https" || (address.scheme == "http" && PlainHTTP.isAllowed(host))
        else {
            throw Fault(.internal, "An internal fault occurred.", cause: DecisionPointProblem("the endpoint's address is neither https nor loopback"))
        }
        url = endpoint.url
        trustAnchors = endpoint.trustAnchors
        clientCertificate = endpoint.clientCertificate
        connectTimeout = Self.milliseconds(endpoint.connectTimeoutMilliseconds, default: 1000)
        responseTimeout = Self.milliseconds(endpoint.responseTimeoutMilliseconds, default: 3000)
        totalTimeout = Self.milliseconds(endpoint.totalTimeoutMilliseconds, default: 5000)
        callsInFlight = Int(endpoint.maxCallsInFlight == 0 ? Self.standardCallsInFlight : endpoint.maxCallsInFlight)
    }

    private static func milliseconds(_ value: UInt32, default standard: UInt32) -> Duration {
        .milliseconds(value == 0 ? standard : value)
    }
}
