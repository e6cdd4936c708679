internal import Contracts
internal import Faults
internal import Hummingbird
internal import Testing

@testable import GatewayEdge

/// bridge §7.3: the return from an upstream's login belongs to the browser in which a person confirmed the sign-in.
@Suite struct BridgeReturnTests {
    private static let start = SignInStart(
        url: "https://up.example/login", expiresInSeconds: 1800, bridgeHandle: "handle-1234567890abcdef", bridgeSecret: "s3cret")

    private func gateway(returnOrigin: String = "https://login.acme.example") -> TestGateway {
        var configuration = DemoCatalogue.configuration
        for index in configuration.requestors.indices where configuration.requestors[index].id == "ACME1" {
            configuration.requestors[index].confirmsSignIn = true
            configuration.requestors[index].bridge = RequestorBridge(upstreamID: "vendor", returnOrigin: returnOrigin)
        }
        let gateway = TestGateway(configuration: configuration)
        gateway.authentication.startSignIn.answer(with: Self.start)
        gateway.authentication.returnFromBridge.answer(with: SignInOutcome(result: .signedIn, redirectURL: "https://acme.example/done"))
        return gateway
    }

    private let query =
        "requestor_id=ACME1&mso_id=NorthCable&reg_code=QK7M2XD&domain_name=acme.example&redirect_url=https%3A%2F%2Facme.example%2Fdone"

    /// - Returns: The cookie of the login, as the browser sends it.
    private func begin(_ gateway: TestGateway, among others: String = "") async throws -> (cookie: String, rules: String) {
        let (cookie, token) = try await gateway.confirmation("/api/v1/authenticate?" + query)
        let sent = others.isEmpty ? cookie : "\(cookie); \(others)"
        let reply = try await gateway.post("/activate/authenticate", form: query + "&confirmation=" + token, [.cookie: sent])
        #expect(reply.status == 302 && reply.headers[.location] == Self.start.url)
        let header = try #require(reply.headers[values: .setCookie].first { $0.contains("=s3cret;") })
        let parts = header.split(separator: ";", maxSplits: 1).map(String.init)
        return (parts[0], parts[1])
    }

    @Test func theConfirmedStartSetsACookieThatTellsNothingOfTheHandle() async throws {
        let (cookie, rules) = try await begin(gateway())
        #expect(cookie.hasPrefix("__Host-bridge-") && cookie.hasSuffix("=s3cret"))
        #expect(!cookie.contains("handle") && cookie.prefix { $0 != "=" }.utf8.count == "__Host-bridge-".utf8.count + 16)
        #expect(rules == " Max-Age=1800; Path=/; HttpOnly; Secure; SameSite=Lax")
    }

    @Test func theCookieGoesToTheServiceWithTheReturnAndWithTheNextStart() async throws {
        let gateway = gateway()
        let (cookie, _) = try await begin(gateway)
        let reply = try await gateway.get("/bridge/return/\(Self.start.bridgeHandle)", [.cookie: cookie])
        #expect(reply.status == 302 && reply.headers[.location] == "https://acme.example/done")
        _ = try await gateway.get("/bridge/return/another-handle", [.cookie: cookie])
        _ = try await gateway.get("/bridge/return/\(Self.start.bridgeHandle)", [:])
        #expect(gateway.authentication.returnFromBridge.requests.map(\.browserSecret) == ["s3cret", "", ""])
        _ = try await begin(gateway, among: cookie)
        #expect(gateway.authentication.startSignIn.requests.map(\.bridgeSecrets) == [[], ["s3cret"]])
    }

    @Test func anotherBrowserIsToldToStartAgain() async throws {
        let gateway = gateway()
        gateway.authentication.returnFromBridge.answer(with: SignInOutcome(result: .rejected, traceID: "4bf92f3577b34da6", otherBrowser: true))
        let reply = try await gateway.get("/bridge/return/\(Self.start.bridgeHandle)", [:])
        #expect(reply.status == 400 && reply.isHTML && reply.text.contains("Start again") && reply.text.contains("4bf92f3577b34da6"))
        #expect(reply.headers[.location] == nil)
    }

    @Test("a foreign authentication that sends no secret works as before")
    func foreignAuthentication() async throws {
        let gateway = gateway()
        gateway.authentication.startSignIn.answer(with: SignInStart(url: Self.start.url))
        let (cookie, token) = try await gateway.confirmation("/api/v1/authenticate?" + query)
        let reply = try await gateway.post("/activate/authenticate", form: query + "&confirmation=" + token, [.cookie: cookie])
        #expect(reply.status == 302 && reply.headers[values: .setCookie].isEmpty)
        #expect(try await gateway.get("/bridge/return/handle", [:]).status == 302)
    }
}
