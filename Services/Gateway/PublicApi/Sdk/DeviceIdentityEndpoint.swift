internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// `/indiv/devices`: an id for a device whose app leaves that to the service (clients §3).
struct DeviceIdentityEndpoint: Sendable {
    private static let seal = "pass_sfp"
    /// Seconds, a year: as long as a session may be.
    private static let cookieLife = 31_536_000

    let dependencies: Dependencies

    @Sendable func identify(_ exchange: Exchange) async throws -> Response {
        let bearer = try Bearer.optional(exchange)
        if bearer != nil { exchange.credentials.markHandedOn() }
        let fingerprint: String
        do { fingerprint = try AppBody(Array(exchange.body.readableBytesView)).text("fingerprint") } catch {
            if let bearer {
                _ = try await dependencies.authentication.verifyAccessToken(VerifyAccessTokenRequest(accessToken: bearer), context: exchange.call)
            }
            throw error
        }
        let sent = exchange.headers.value(.deviceSeal) ?? exchange.cookies.first { $0.name == Self.seal }?.value ?? ""
        let device = try await dependencies.authentication.identifyDevice(
            IdentifyDeviceRequest(
                accessToken: bearer ?? "", fingerprint: fingerprint, seal: Self.isSealLike(sent) ? sent : "",
                clientAddress: Self.network(exchange.facts.clientAddress)),
            context: exchange.changingCall)
        var response = Response(Document("device", [.init("deviceId", .text(device.deviceID))]), format: .json)
        response.headers[.deviceSeal] = device.seal
        let rules = "Max-Age=\(Self.cookieLife); Path=/; HttpOnly; Secure\(SameSiteNone.attribute(for: exchange.headers[.userAgent]))"
        response.headers.append(.init(name: .setCookie, value: "\(Self.seal)=\(device.seal); \(rules)"))
        return response
    }

    /// An IPv4 address, or what one customer gets of IPv6.
    private static func network(_ address: ClientAddress) -> String {
        guard let number = IPAddress(address.text), !number.isIPv4 else { return address.text }
        return String(number.high, radix: 16) + "/64"
    }

    /// True for the form of our own seals; anything else is passed on to nobody.
    private static func isSealLike(_ text: String) -> Bool {
        text.utf8.count <= 4096 && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
    }
}
