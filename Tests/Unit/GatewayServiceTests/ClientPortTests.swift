internal import Contracts
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Testing

@testable import GatewayEdge

/// bridge §5.1: the source port of a device's connection, which some home-based sign-in wants.
@Suite struct ClientPortTests {
    private static func gateway(trusted: [String] = ["127.0.0.1"], header: String? = "X-Client-Port", isBridged: Bool = true) -> TestGateway {
        var configuration = DemoCatalogue.configuration
        for index in configuration.requestors.indices where isBridged && configuration.requestors[index].id == "ACME1" {
            configuration.requestors[index].bridge = RequestorBridge(upstreamID: "vendor", returnOrigin: "https://login.acme.example")
        }
        return TestGateway(configuration: configuration, trusted: trusted, clientPortHeader: header)
    }

    private func call(_ gateway: TestGateway, _ headers: (HTTPField.Name, String)...) async throws -> DeviceCall {
        var fields = TestGateway.device
        for (name, value) in headers { fields.append(HTTPField(name: name, value: value)) }
        let reply = try await gateway.send(.post, "/reggie/v1/ACME1/regcode?deviceId=d", fields, over: .live)
        try #require(reply.status == 201, "\(reply.text)")
        return try #require(gateway.authentication.createRegistrationCode.requests.last?.call)
    }

    @Test("without a proxy it is that of the connection, also where the device says another")
    func ofTheConnection() async throws {
        let gateway = Self.gateway(trusted: [], header: nil)
        let port = try await gateway.exchange(over: .live) { client in
            try await RawConnection.with(try #require(client.port)) { connection in
                await connection.send(
                    "POST /reggie/v1/ACME1/regcode?deviceId=d HTTP/1.1\r\nHost: tv.example\r\nAuthorization: Bearer good\r\n"
                        + "X-Device-Info: \(TestGateway.deviceInformation)\r\nX-Client-Port: 77\r\nContent-Length: 0\r\n\r\n")
                try await connection.wait(for: "the answer") { $0.statuses == [201] }
                return try #require(connection.port)
            }
        }
        let call = try #require(gateway.authentication.createRegistrationCode.requests.first?.call)
        #expect(port > 0 && call.clientPort == UInt32(port))
    }

    private static let headers: [(values: [String], port: UInt16)] = [
        (["50412"], 50_412), (["1"], 1), (["65535"], 65_535), (["0"], 0), (["65536"], 0), (["-1"], 0), (["+5"], 0), (["5, 6"], 0), (["5", "6"], 0),
        (["0x50"], 0), (["５"], 0), ([""], 0), ([], 0), (["000080"], 0),
    ]

    @Test("behind a trusted proxy it is the one number from 1 to 65535 that its header says, else nobody's", arguments: headers)
    func ofTheHeader(values: [String], expected: UInt16) throws {
        func facts(_ header: HTTPField.Name?) throws -> RequestFacts {
            var head = HTTPRequest(method: .get, scheme: "http", authority: "tv.example", path: "/")
            for value in values { head.headerFields.append(HTTPField(name: .clientPort, value: value)) }
            return RequestFacts(
                Request(head: head, body: RequestBody(buffer: ByteBuffer())), peer: "127.0.0.1", port: 4711,
                trusted: [try #require(AddressRange("127.0.0.1"))], portHeader: header, isSecure: false,
                host: ServedHost(origin: "https://tv.example"))
        }
        #expect(try facts(.clientPort).clientPort == expected)
        #expect(try facts(nil).clientPort == 0, "that of the proxy's connection is nobody's")
    }

    @Test("bridge B22: it stays with the code beside the address that it belongs to")
    func belongsToItsAddress() async throws {
        let gateway = Self.gateway()
        let whole = try await call(gateway, (.forwardedFor, "8.8.4.4"), (.clientPort, "50412"))
        #expect(whole.clientPort == 50_412 && whole.device?.connectionIP == "8.8.4.4" && whole.device?.connectionPort == "50412")
        let half = try await call(gateway, (.forwardedFor, "8.8.4.4"))
        #expect(half.clientPort == 0 && half.device?.connectionIP == "8.8.4.4" && half.device?.connectionPort == "")
    }

    @Test("bridge §5.1: a visitor's id of up to 128 octets and a Roku token of up to 8,192 go to the upstream; longer ones count as not sent")
    func boundsOfWhatUpstreamsGet() async throws {
        let roku = try #require(HTTPField.Name("X-Roku-Reserved-Roku-Connect-Token"))
        for (visitor, token, isKept) in [(128, 8192, true), (129, 8193, false)] {
            let (id, sent) = (String(repeating: "v", count: visitor), String(repeating: "r", count: token))
            let gateway = Self.gateway()
            let reply = try await gateway.send(
                .post, "/reggie/v1/ACME1/regcode?deviceId=d&ap_vi=\(id)", TestGateway.device.with(roku, sent))
            #expect(reply.status == 201, "nobody is kept from watching for it")
            let call = try #require(gateway.authentication.createRegistrationCode.requests.last?.call)
            #expect(call.visitorID == (isKept ? id : "") && call.rokuToken == (isKept ? sent : ""))
        }
    }

    @Test("a requestor without an upstream is told of none")
    func isForUpstreamsAlone() async throws {
        let call = try await call(Self.gateway(isBridged: false), (.forwardedFor, "8.8.4.4"), (.clientPort, "50412"))
        #expect(call.clientPort == 0 && call.device?.connectionIP == "8.8.4.4")
    }

    @Test("a header that is none, or that nobody may send, is refused with the reason")
    func settings() {
        func problem(_ header: String, trusted: [String] = ["10.0.0.1"]) -> (key: String, text: String)? {
            GatewaySettings(
                publicOrigin: "https://tv.example", pages: "p", trustedProxies: trusted.compactMap(AddressRange.init), clientPortHeader: header
            ).problem
        }
        #expect(problem("X-Forwarded-Client-Port") == nil)
        for header in ["", "X Port", "X-Port:", "ポート"] { #expect(problem(header)?.key == "clientPortHeader", "\(header)") }
        #expect(problem("X-Port", trusted: [])?.text.contains("gateway.trustedProxies") == true)
    }
}
