@testable import GatewayService
internal import Testing

@Suite struct ClientAddressTests {
    private let trusted = ["127.0.0.0/8", "198.51.100.0/24", "2001:db8:1::/48"].compactMap(AddressRange.init)

    @Test(
        "rest-v1 #99: the rightmost address that is neither trusted nor private counts",
        arguments: [
            ("9.9.9.9, 203.0.113.7", "203.0.113.7"), ("9.9.9.9, 203.0.113.7, 198.51.100.4, 10.0.0.1", "203.0.113.7"),
            ("203.0.113.7:51234", "203.0.113.7"), ("[2001:db8::5]:443", "2001:db8::5"), ("2001:db8:2::1, 2001:db8:1::1", "2001:db8:2::1"),
            ("::ffff:203.0.113.7", "::ffff:203.0.113.7"), ("10.0.0.1", "127.0.0.1"), ("9.9.9.9, unknown", "127.0.0.1"), ("", "127.0.0.1"),
        ])
    func rightmost(header: String, expected: String) {
        let address = ClientAddress(peer: "127.0.0.1", forwarded: [header], trusted: trusted)
        #expect(address.text == expected)
        #expect(address.isForwarded == (expected != "127.0.0.1"))
    }

    @Test func severalHeadersAreOneList() {
        let address = ClientAddress(peer: "127.0.0.1", forwarded: ["9.9.9.9", "203.0.113.7"], trusted: trusted)
        #expect(address.text == "203.0.113.7")
    }

    @Test func aForeignPeerNamesNobody() {
        #expect(ClientAddress(peer: "9.9.9.9", forwarded: ["203.0.113.7"], trusted: trusted).text == "9.9.9.9")
    }

    @Test(arguments: ["10.0.0.0/33", "10.0.0.0/-1", "x/8", "", "10.0.0.0/8/1", "::/129"])
    func malformedRangesAreRefused(text: String) {
        #expect(AddressRange(text) == nil)
    }

    @Test func rangesEndWithinABytes() throws {
        let range = try #require(AddressRange("172.16.0.0/12"))
        #expect(range.contains(try #require(IPAddress("172.31.255.255"))))
        #expect(!range.contains(try #require(IPAddress("172.32.0.0"))))
    }
}
