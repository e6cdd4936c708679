import Testing

@testable import GatewayEdge

@Suite struct WebOriginTests {
    @Test("this machine is known by its name and its addresses, not by names that begin like them")
    func loopback() {
        for origin in ["http://localhost:8080", "http://127.0.0.1", "http://127.9.9.9:1", "http://[::1]:8080"] {
            #expect(WebOrigin(origin)?.isLoopback == true, "\(origin)")
        }
        for origin in [
            "http://127.evil.example", "http://127.0.0.1.evil.example", "http://localhost.evil.example", "https://tv.example", "http://10.0.0.1",
            "http://[2001:db8::1]",
        ] {
            #expect(WebOrigin(origin)?.isLoopback == false, "\(origin)")
        }
    }
}
