@testable import AuthorizationService
import Contracts
import Faults
import Testing

/// Where an MVPD's decisions come from.
@Suite("The address of a decision point")
struct DecisionEndpointTests {
    @Test("mvpd §4.2: an answer is believed because of TLS, so the address is https with a host, or http on loopback")
    func addresses() throws {
        for url in ["https://pdp.example/decide", "HTTPS://PDP.example", "http://127.0.0.1:8080/x", "http://localhost/x"] {
            _ = try DecisionEndpoint(AuthorizationEndpoint(url: url))
        }
        for url in ["", "https:///decide", "https:", "http://pdp.example/decide", "ftp://127.0.0.1/x", "pdp.example"] {
            #expect(throws: Fault.self, "\(url)") { try DecisionEndpoint(AuthorizationEndpoint(url: url)) }
        }
    }
}
