import OtlpReceiver
import OutboundHttp
import Testing

@Suite("Who calls servers of others")
struct UserAgentTests {
    private let route = OutboundRoute(peer: "test", connectTimeout: .seconds(10), responseTimeout: .seconds(10), connections: 1)

    @Test(
        "RFC 9110 §10.1.5: a call says who makes it, what it takes, and that it wants no coding; what the request says itself goes out once, as it is"
    )
    func headers() async throws {
        let receiver = OtlpReceiver()
        try await receiver.start()
        let transport = OutboundHttp(OutboundOptions(userAgent: "Boxoffice/9.8.7"))
        let own = [("user-agent", "Set-top/1"), ("accept", "application/json"), ("accept-encoding", "gzip")]
        for headers in [[], own] {
            let request = OutboundRequest(.post, receiver.address + "/token", headers: headers.map { (name: $0.0, value: $0.1) }, body: [1])
            _ = try await transport.send(request, by: route, timeLeft: .seconds(20))
        }
        await transport.shutdown()
        let sent = receiver.requests.map { request in ["user-agent", "accept", "accept-encoding"].map { request.headers[$0] } }
        await receiver.stop()
        #expect(sent == [["Boxoffice/9.8.7", "*/*", "identity"], ["Set-top/1", "application/json", "gzip"]])
    }

    @Test("a header that a record sets takes the place of ours, whatever its case")
    func recordWins() {
        var request = OutboundRequest(.get, "https://pdp.example/", headers: [("accept", "text/xml"), ("User-Agent", "x")])
        request.set(("USER-AGENT", "Comcast"))
        #expect(request.headers.map(\.name) == ["accept", "USER-AGENT"] && request.headers.last?.value == "Comcast")
    }
}
