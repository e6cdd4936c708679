internal import Catalogue
internal import Contracts
internal import Faults
internal import FoundationEssentials
internal import OutboundHttp

/// A decision point is reached in this way: its address, whom to trust there, and how long to wait (mvpd §4.3).
struct DecisionEndpoint: Hashable, Sendable {
    /// Calls under way at once unless the record says otherwise.
    static let standardCallsInFlight: UInt32 = 128

    let url: String
    /// DER; empty: the system's.
    let trustAnchors: [[UInt8]]
    /// Name of the client certificate to show; empty: none.
    let clientCertificate: String
    let connectTimeout: Duration
    /// From the request's last byte to the answer, and between two parts of the answer.
    let responseTimeout: Duration
    /// For everything, a retry included.
    let totalTimeout: Duration
    /// Calls, and so connections, at once.
    let callsInFlight: Int

    /// - Throws: `internal` when the address is neither https nor http on loopback: an answer is believed because of TLS (mvpd §4.2).
    init(_ endpoint: AuthorizationEndpoint) throws(Fault) {
        // Letter case is of no meaning in either (RFC 3986 §6.2.2.1), and the catalogue takes both.
        guard let address = URLComponents(string: endpoint.url), let host = address.host?.lowercased(), let scheme = address.scheme?.lowercased(),
            !host.isEmpty, scheme == "https" || scheme == "http" && PlainHTTP.isAllowed(host)
        else {
            throw Fault(.internal, "An internal fault occurred.", cause: DecisionPointError("the endpoint's address is neither https nor loopback"))
        }
        url = endpoint.url
        trustAnchors = endpoint.trustAnchors
        clientCertificate = endpoint.clientCertificate
        connectTimeout = Self.milliseconds(endpoint.connectTimeoutMilliseconds, default: 1000)
        responseTimeout = Self.milliseconds(endpoint.responseTimeoutMilliseconds, default: 3000)
        totalTimeout = Self.milliseconds(endpoint.totalTimeoutMilliseconds, default: 5000)
        callsInFlight = Int(endpoint.maxCallsInFlight == 0 ? Self.standardCallsInFlight : endpoint.maxCallsInFlight)
    }

    /// Each endpoint has connections of its own.
    /// - Throws: `noCertificate` when the settings lack the client certificate.
    func route(_ certificates: ClientCertificates) throws(OutboundFailure) -> OutboundRoute {
        var route = OutboundRoute(
            peer: url, trustAnchors: trustAnchors, connectTimeout: connectTimeout, responseTimeout: responseTimeout, connections: callsInFlight)
        if !clientCertificate.isEmpty { route.certificate = try certificates.certificate(clientCertificate) }
        return route
    }

    private static func milliseconds(_ value: UInt32, default standard: UInt32) -> Duration {
        .milliseconds(value == 0 ? standard : value)
    }
}
