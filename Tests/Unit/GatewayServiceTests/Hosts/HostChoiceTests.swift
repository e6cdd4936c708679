internal import BridgeClient
internal import Contracts
internal import Faults
internal import Foundation
@testable import GatewayEdge
internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdTesting
internal import Logging
internal import Testing

/// Addresses that are written are those of the name that was asked, as the settings have it; a sign-in goes where its answer comes.
@Suite struct HostChoiceTests {
    private static let hosts = [
        HostSettings(name: "api.tv.example", origin: "https://api.tv.example:8443"),
        HostSettings(name: "watch.acme.example", origin: "https://acme.example"),
    ]
    private static let authenticate =
        "/api/v1/authenticate?requestor_id=ACME1&mso_id=NorthCable&reg_code=QK7M2XD&domain_name=acme.example&redirect_url=https://acme.example/"

    private struct Answer {
        let status: Int
        let text: String

        func field(_ name: String) -> String? {
            text.components(separatedBy: "\r\n").first { $0.lowercased().hasPrefix(name + ": ") }.map { String($0.dropFirst(name.count + 2)) }
        }
    }

    private func send(
        _ gateway: TestGateway, _ uri: String, host: String, method: String = "GET", fields: [(String, String)] = []
    ) async throws -> Answer {
        try await gateway.exchange(over: .live) { client in
            try await RawConnection.with(try #require(client.port)) { connection in
                var all = [("Host", host), ("Authorization", "Bearer good"), ("Accept", "application/json"), ("Connection", "close")] + fields
                all.append(("X-Device-Info", TestGateway.deviceInformation))
                await connection.send("\(method) \(uri) HTTP/1.1\r\n\(all.map { "\($0.0): \($0.1)\r\n" }.joined())\r\n")
                try await connection.wait(for: "the answer") { $0.isClosed }
                return Answer(status: try #require(connection.statuses.first), text: connection.text)
            }
        }
    }

    @Test(
        "an address begins with what the settings say of the name, whatever else the request says of itself",
        arguments: [
            ("tv.example", "https://tv.example"), ("api.tv.example", "https://api.tv.example:8443"),
            ("API.TV.example:443", "https://api.tv.example:8443"),
            ("watch.acme.example", "https://acme.example"), ("evil.example", "https://tv.example"), ("127.0.0.1:8080", "https://tv.example"),
            ("api.tv.example.evil.example", "https://tv.example"), (String(repeating: "a", count: 200) + ".api.tv.example", "https://tv.example"),
        ])
    func writtenAddresses(host: String, origin: String) async throws {
        let gateway = TestGateway(hosts: Self.hosts)
        let forwarded = [("X-Forwarded-Host", "evil.example"), ("Forwarded", "host=evil.example"), ("X-Original-Host", "evil.example")]
        let code = try await send(gateway, "/reggie/v1/ACME1/regcode?\(TestGateway.deviceQuery)", host: host, method: "POST", fields: forwarded)
        let page = "\(origin)/activate"
        #expect(code.status == 201 && (code.text.contains(page) || code.text.contains(page.replacing("/", with: "\\/"))), "\(code.text)")
        let fault = try await send(gateway, "/api/v2/ACME1/nowhere", host: host, fields: forwarded)
        #expect(fault.text.replacing("\\/", with: "/").contains("\(origin)/help/errors#"), "\(fault.text)")
        let docs = try await send(gateway, "/docs", host: host, fields: forwarded)
        #expect(docs.text.contains(origin))
        for answer in [code, fault, docs] { #expect(!answer.text.contains("evil.example") && !answer.text.contains("<script>")) }
    }

    @Test(
        "a name that is no single host is refused, and its text is nowhere",
        arguments: [
            "api.tv.example@evil.example", "evil.example/api.tv.example", String(repeating: "a", count: 400) + ".api.tv.example",
            "api.tv.example, evil.example", "\"><script>",
        ])
    func noHosts(host: String) async throws {
        let answer = try await send(TestGateway(hosts: Self.hosts), "/docs", host: host)
        #expect(answer.status == 400 && !answer.text.contains("example") && !answer.text.contains("<script>"))
    }

    @Test("a target in absolute form counts more than Host (RFC 9112 §3.2.2)")
    func absoluteTarget() async throws {
        let gateway = TestGateway(hosts: Self.hosts)
        let answer = try await send(gateway, "http://api.tv.example/api/v2/ACME1/nowhere", host: "tv.example")
        #expect(answer.text.replacing("\\/", with: "/").contains("https://api.tv.example:8443/help/errors#"))
    }

    @Test("a refusal before anything else tells of the same name")
    func overload() throws {
        let gateway = TestGateway(hosts: Self.hosts)
        let refusals = OverloadRefusals(
            routes: RouteTree(try gateway.routes()), settings: gateway.settings, faces: try gateway.faces(), metrics: RequestMetrics(),
            transportSecurity: nil, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        for (host, origin) in [("api.tv.example", "https://api.tv.example:8443"), ("evil.example", "https://tv.example")] {
            let head = HTTPRequest(method: .get, scheme: "https", authority: host, path: "/api/v2/ACME1/profiles", headerFields: [:])
            let reply = try #require(refusals.reply(to: head, sparesUrgent: false))
            #expect(String(buffer: reply.body).replacing("\\/", with: "/").contains("\(origin)/help/errors#"))
        }
    }

    // MARK: Sign-ins

    @Test(
        "a sign-in that begins at another name is led to the one where its answer comes, before anything is done for it",
        arguments: [
            authenticate, "/api/v2/authenticate/ACME1/QK7M2XD", "/adobe-services/authenticate/saml?reg_code=QK7M2XD",
            "/adobe-services/1.0/authenticate/saml?reg_code=QK7M2XD", "/activate", "/activate?code=QK7%20M2XD", "/activate/providers?code=QK7M2XD",
            "/activate/sign-in?code=QK7M2XD&mvpd=NorthCable", "/test-sign-in/t1cket", "/apple/v1/ACME1/web?returnUrl=%2Fdevices",
        ])
    func ledHome(uri: String) async throws {
        let gateway = TestGateway(hosts: Self.hosts)
        for host in ["api.tv.example", "watch.acme.example:443"] {
            let answer = try await send(gateway, uri, host: host)
            #expect(answer.status == 302 && answer.field("location") == "https://tv.example\(uri)", "\(host): \(answer.text)")
            #expect(
                answer.field("cache-control") == "no-store" && answer.field("set-cookie") == nil && answer.field("referrer-policy") == "no-referrer")
        }
        #expect(gateway.authentication.startSignIn.requests.isEmpty && gateway.authentication.getRegistrationCode.requests.isEmpty)
        #expect(gateway.signInWithApple.startWebSignIn.requests.isEmpty && gateway.authentication.openTestSignIn.requests.isEmpty)
    }

    @Test(
        "where the answer comes, and at names that the settings do not know, a sign-in begins at once",
        arguments: ["tv.example", "10.1.2.3", "evil.example"])
    func beginsHere(host: String) async throws {
        let gateway = TestGateway(hosts: Self.hosts)
        let answer = try await send(gateway, Self.authenticate, host: host)
        #expect(answer.status == 302 && answer.field("location")?.hasPrefix("https://idp.example/") == true)
        #expect(answer.field("set-cookie")?.hasPrefix("__Host-signin-") == true)
    }

    @Test("signInOrigin is where MVPDs send people, when that is not publicOrigin; a test of the draft begins there too")
    func signInOrigin() async throws {
        let gateway = TestGateway(hosts: Self.hosts, signInOrigin: "https://sp.tv.example")
        for host in ["tv.example", "api.tv.example"] {
            #expect(try await send(gateway, Self.authenticate, host: host).field("location") == "https://sp.tv.example\(Self.authenticate)")
        }
        #expect(try await send(gateway, Self.authenticate, host: "sp.tv.example:8443").field("location")?.hasPrefix("https://idp.example/") == true)
        // By this origin authentication names the cluster to upstreams (bridge §14.3).
        for (origin, status) in [("https://sp.tv.example", 508), ("https://tv.example", 200)] {
            let via = [("Via", BridgeVia(origin: origin).header)]
            #expect(try await send(gateway, "/healthz", host: "tv.example", fields: via).status == status)
        }
    }

    @Test(
        "bridge §7.3: a return at another name is led to where the cookie of a confirmed sign-in is, once, and only where some requestor has sign-ins confirmed"
    )
    func bridgeReturns() async throws {
        for confirms in [true, false] {
            var configuration = DemoCatalogue.configuration
            for index in configuration.requestors.indices where configuration.requestors[index].id == "ACME1" {
                configuration.requestors[index].confirmsSignIn = confirms
                configuration.requestors[index].bridge = RequestorBridge(upstreamID: "vendor", returnOrigin: "https://login.acme.example")
            }
            let gateway = TestGateway(configuration: configuration, hosts: Self.hosts)
            gateway.authentication.returnFromBridge.answer(with: SignInOutcome(result: .signedIn, redirectURL: "https://acme.example/done"))
            let there = try await send(gateway, "/bridge/return/a-handle", host: "login.acme.example")
            #expect(there.status == 302)
            #expect(there.field("location") == (confirms ? "https://tv.example/bridge/return/a-handle?here=1" : "https://acme.example/done"))
            #expect(gateway.authentication.returnFromBridge.requests.count == (confirms ? 0 : 1))
            // A proxy that gives every request one name makes no circle; nor is a name led away to which nobody returns.
            for (uri, host) in [
                ("/bridge/return/h?here=1", "login.acme.example"), ("/bridge/return/h", "tv.example"), ("/bridge/return/h", "10.1.2.3"),
            ] {
                #expect(try await send(gateway, uri, host: host).field("location") == "https://acme.example/done")
            }
        }
    }

    @Test("a wrong code stays wrong: being led elsewhere forgives none")
    func codesAreNotForgiven() async throws {
        let gateway = TestGateway(throttle: ThrottleSettings(perSecond: 1000, burst: 1000), hosts: Self.hosts)
        gateway.authentication.startSignIn.fail(with: Fault(.invalidRegistrationCode, "unknown"))
        try await gateway.exchange(over: .live) { client in
            let port = try #require(client.port)
            func status(_ host: String, _ code: String) async throws -> Int {
                try await RawConnection.with(port) { connection in
                    let uri = Self.authenticate.replacing("QK7M2XD", with: code)
                    await connection.send("GET \(uri) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
                    try await connection.wait(for: "the answer") { $0.isClosed }
                    return try #require(connection.statuses.first)
                }
            }
            for number in 0..<5 {
                #expect(try await status("tv.example", "WRONG2\(number)") == 400)
                #expect(try await status("api.tv.example", "WRONG2\(number)") == 302)
            }
            #expect(try await status("tv.example", "WRONG29") == 429)
            #expect(try await status("api.tv.example", "WRONG29") == 302)
            #expect(try await status("tv.example", "WRONG29") == 429)
        }
    }

    @Test("a form is the gateway's own at the name that showed it, and at no other name")
    func formsAreOfOneName() {
        let hosts = PublicHosts(TestGateway(hosts: Self.hosts).settings)
        let (home, api, watch) = (hosts.host("tv.example"), hosts.host("api.tv.example:8443"), hosts.host("watch.acme.example"))
        #expect(home.serves("https://tv.example", authority: "tv.example"))
        #expect(api.serves("https://api.tv.example:8443", authority: "api.tv.example:8443"))
        #expect(watch.serves("https://WATCH.acme.example", authority: "watch.acme.example"))
        for (host, authority) in [(home, "tv.example"), (api, "api.tv.example:8443"), (watch, "watch.acme.example")] {
            for page in ["https://evil.example", "http://\(authority)", "null", "https://acme.example", "https://\(authority).evil.example"] {
                #expect(!host.serves(page, authority: authority), "\(page) at \(authority)")
            }
        }
        #expect(
            !home.serves("https://api.tv.example:8443", authority: "tv.example") && !api.serves("https://tv.example", authority: "api.tv.example"))
        // The value of Host for a name that nobody knows proves nothing.
        #expect(!hosts.host("evil.example").serves("https://evil.example", authority: "evil.example"))
        #expect(hosts.host("evil.example").serves("https://tv.example", authority: "evil.example"))
    }
}
