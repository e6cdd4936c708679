@testable import GatewayEdge
internal import Testing

@Suite struct ClientAddressTests {
    private let trusted = ["127.0.0.0/8", "198.51.100.0/24", "2001:db8:1::/48"].compactMap(AddressRange.init)

    @Test(
        "rest-v1 #99: the rightmost address that is not trusted counts, private or not",
        arguments: [
            ("9.9.9.9, 203.0.113.7", "203.0.113.7"), ("9.9.9.9, 203.0.113.7, 198.51.100.4, 127.0.0.1", "203.0.113.7"),
            ("203.0.113.7, 10.0.0.1", "10.0.0.1"),
            ("203.0.113.7:51234", "203.0.113.7"), ("[2001:db8::5]:443", "2001:db8::5"), ("2001:db8:2::1, 2001:db8:1::1", "2001:db8:2::1"),
            ("::ffff:203.0.113.7", "::ffff:203.0.113.7"), ("10.0.0.1", "10.0.0.1"), ("9.9.9.9, unknown", "127.0.0.1"), ("", "127.0.0.1"),
            ("198.51.100.4", "127.0.0.1"), ("198.51.100.4, 127.0.0.1", "127.0.0.1"), ("\t203.0.113.7 ", "203.0.113.7"),
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

    @Test(
        arguments: [
            "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.00", "1..3.4", "1.2.3.", ".1.2.3.4", "1.2.3.4 ", "1.2.3.4/8", "+1.2.3.4",
            "4294967296.0.0.0", "", ":", "::1%1x", "１.2.3.4",
        ])
    func whatIsNoAddressIsNone(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test(arguments: [("0.0.0.0", 0), ("255.255.255.255", 0xffff_ffff), ("203.0.113.7", 0xcb00_7107), ("::ffff:203.0.113.7", 0xcb00_7107)])
    func fourNumbersAreOne(text: String, number: UInt64) throws {
        let address = try #require(IPAddress(text))
        #expect(address.isIPv4 && address.high == number << 32 && address.low == 0)
    }

    @Test func longAddressesKeepBothHalves() throws {
        let address = try #require(IPAddress("2001:db8:0:1::ff"))
        #expect(!address.isIPv4 && address.high == 0x2001_0db8_0000_0001 && address.low == 0xff)
        let within = try #require(AddressRange("2001:db8:0:1::fe/127"))
        let far = try #require(IPAddress("2001:db8:0:1::1:ff"))
        #expect(within.contains(address) && !within.contains(far))
        let (allLong, allShort) = (try #require(AddressRange("::/0")), try #require(AddressRange("0.0.0.0/0")))
        let short = try #require(IPAddress("9.9.9.9"))
        #expect(allLong.contains(address) && !allLong.contains(short))
        #expect(allShort.contains(short) && !allShort.contains(address))
    }
}
