@testable import GatewayEdge
import Testing

@Suite("Calls of the vendor's SDKs that are not served")
struct UnservedCallTests {
    @Test("clients #53: ten thousand addresses have 64 names and another for all the rest; what is of no SDK is not counted")
    func bounded() {
        let calls = UnservedCalls()
        for number in 0..<10_000 { #expect(calls.note("/adobe-services/made-up-\(number)/more")) }
        #expect(calls.names.count == UnservedCalls.most + 1 && calls.names.contains("other"))
        #expect(calls.names.allSatisfy { $0.utf8.count <= 64 })
        #expect(!calls.note("/api/v1/adobe-services/x") && !calls.note("/"))
        #expect(calls.names.count == UnservedCalls.most + 1)
    }

    @Test("clients #57: a name is short and printable, whatever is asked for")
    func printable() {
        let hostile = "/adobe-services/\"\\\u{7}é\n" + String(repeating: "x", count: 5000)
        let label = UnservedCalls.label(hostile)
        #expect(
            label.utf8.count <= 64 && label.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") })
        #expect(UnservedCalls.label("/adobe-services//../x") == "/adobe-services/..")
    }
}
