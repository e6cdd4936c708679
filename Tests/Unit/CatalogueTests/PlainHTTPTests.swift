import Testing

@testable import Catalogue

@Suite struct PlainHTTPTests {
    @Test("Plain HTTP goes to this machine and to named stand-ins only")
    func isForStandIns() {
        let standIns = PlainHTTP.hosts(" Sandbox , ,other")
        #expect(standIns == ["sandbox", "other"])
        for host in ["localhost", "LOCALHOST", "127.0.0.1", "127.1.2.3", "::1", "[::1]", "sandbox", "SANDBOX"] {
            #expect(PlainHTTP.isAllowed(host, standIns: standIns), "\(host)")
        }
        for host in ["127.example", "127.0.0.1.example", "10.0.0.1", "sandbox.example", "", "128.0.0.1", "127.0.0.256"] {
            #expect(!PlainHTTP.isAllowed(host, standIns: standIns), "\(host)")
        }
        #expect(!PlainHTTP.isAllowed("sandbox", standIns: []))
    }
}
