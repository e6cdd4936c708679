import Foundation
@testable import OutboundHttp
import Testing

/// Where a document is fetched from, and where not.
@Suite("Fetch of a document from an address that a person typed")
struct DocumentFetchTests {
    /// The meanings of names: each time the next of the list, the last one for ever.
    final class Names: NameResolving, @unchecked Sendable {
        private let lock = NSLock()
        private var answers: [String: [[String]]]
        private(set) var asked: [String] = []

        init(_ answers: [String: [[String]]]) { self.answers = answers }

        func addresses(of host: String, timeLeft: Duration) async throws(DocumentFetch.Refusal) -> [ResolvedAddress] {
            lock.withLock {
                asked.append(host)
                guard var list = answers[host], let first = list.first else { return [] }
                if list.count > 1 { list.removeFirst() }
                answers[host] = list
                return first.map { ResolvedAddress(octets: Self.octets($0), text: $0) }
            }
        }

        static func octets(_ text: String) -> [UInt8] {
            if !text.contains(":") { return text.split(separator: ".").compactMap { UInt8($0) } }
            var address = in6_addr()
            inet_pton(AF_INET6, text, &address)
            return withUnsafeBytes(of: address) { Array($0) }
        }
    }

    /// The documents at the places, and the addresses to which connections were made.
    final class Places: PinnedCarrier, @unchecked Sendable {
        private let lock = NSLock()
        private let answers: [String: Result<OutboundAnswer, DocumentFetch.Refusal>]
        private(set) var connections: [String] = []

        init(_ answers: [String: Result<OutboundAnswer, DocumentFetch.Refusal>]) { self.answers = answers }

        func get(
            _ place: FetchPlace, at address: ResolvedAddress, largest: Int, timeLeft: Duration
        ) async throws(DocumentFetch.Refusal) -> OutboundAnswer {
            lock.withLock { connections.append("\(place.url) at \(address.text)") }
            guard let answer = answers[place.url] else { throw .status(404) }
            return try answer.get()
        }
    }

    private static let names = [
        "idp.example": [["93.184.216.34"]], "other.example": [["93.184.216.35"]], "six.example": [["2606:2800::1"]],
        "inside.example": [["10.1.2.3"]], "both.example": [["93.184.216.34", "127.0.0.1"]], "turns.example": [["93.184.216.34"], ["127.0.0.1"]],
        "localhost": [["127.0.0.1"]], "127.0.0.1": [["127.0.0.1"]], "169.254.169.254": [["169.254.169.254"]], "2130706433": [["127.0.0.1"]],
        "::1": [["::1"]], "::ffff:127.0.0.1": [["::ffff:127.0.0.1"]], "fd00::1": [["fd00::1"]], "64:ff9b::7f00:1": [["64:ff9b::7f00:1"]],
        "2002:7f00:1::": [["2002:7f00:1::"]],
    ]

    private static func redirect(_ location: String) -> Result<OutboundAnswer, DocumentFetch.Refusal> {
        .success(OutboundAnswer(status: 302, headers: [("Location", location)]))
    }

    private static let good = Result<OutboundAnswer, DocumentFetch.Refusal>.success(OutboundAnswer(status: 200, body: Array("<xml/>".utf8)))

    private static let places: [String: Result<OutboundAnswer, DocumentFetch.Refusal>] = [
        "https://idp.example/metadata": good, "https://six.example/": good, "https://turns.example/metadata": good,
        "https://other.example/moved": redirect("https://idp.example/metadata"), "https://idp.example/relative": redirect("metadata"),
        "https://idp.example/in": redirect("https://inside.example/"), "https://idp.example/plain": redirect("http://other.example/"),
        "https://idp.example/loop": redirect("/loop"), "https://idp.example/nowhere": .success(OutboundAnswer(status: 302)),
        "https://idp.example/large": .failure(.tooLarge(262_144)), "https://idp.example/slow": .failure(.tooSlow),
        "https://idp.example/file": redirect("file:///etc/passwd"), "https://idp.example/again": redirect("https://turns.example/"),
        "https://turns.example/": redirect("https://turns.example/metadata"),
        "http://127.0.0.1:8090/metadata": good,
    ]

    private func fetch(
        _ url: String, allowsPrivate: Bool = false
    ) async -> (result: Result<DocumentFetch.Document, DocumentFetch.Refusal>, connections: [String]) {
        let (names, places) = (Names(Self.names), Places(Self.places))
        let fetch = DocumentFetch(limits: DocumentFetch.Limits(allowsPrivate: allowsPrivate), names: names, carrier: places)
        do throws(DocumentFetch.Refusal) {
            return (.success(try await fetch.document(at: url)), places.connections)
        } catch {
            return (.failure(error), places.connections)
        }
    }

    @Test(
        "a document of the public internet is fetched, also after redirects; each connection goes to the address that was checked",
        arguments: [
            ("https://idp.example/metadata", ["https://idp.example/metadata at 93.184.216.34"]),
            ("https://six.example/", ["https://six.example/ at 2606:2800::1"]),
            ("HTTPS://IDP.example/metadata#x", ["https://idp.example/metadata at 93.184.216.34"]),
            ("https://other.example/moved", ["https://other.example/moved at 93.184.216.35", "https://idp.example/metadata at 93.184.216.34"]),
            ("https://idp.example/relative", ["https://idp.example/relative at 93.184.216.34", "https://idp.example/metadata at 93.184.216.34"]),
        ])
    func fetches(url: String, connections: [String]) async throws {
        let (result, made) = await fetch(url)
        #expect(try result.get().body == Array("<xml/>".utf8))
        #expect(made == connections)
    }

    @Test(
        "private networks and this machine are asked for nothing, however they are written",
        arguments: [
            "https://inside.example/", "https://both.example/", "https://localhost/", "https://127.0.0.1/", "https://169.254.169.254/latest",
            "https://2130706433/", "https://[::1]/", "https://[::ffff:127.0.0.1]/", "https://[fd00::1]/", "https://[64:ff9b::7f00:1]/",
            "https://[2002:7f00:1::]/",
        ])
    func refusesPrivateNetworks(url: String) async throws {
        let (result, made) = await fetch(url)
        #expect(throws: DocumentFetch.Refusal.self) { try result.get() }
        if case .failure(.privateNetwork) = result {} else { Issue.record("\(url): \(result)") }
        #expect(made.isEmpty)
    }

    @Test("a redirect is checked as the first address is")
    func checksRedirects() async {
        let inside = await fetch("https://idp.example/in")
        #expect(inside.result == .failure(.privateNetwork(host: "inside.example")) && inside.connections.count == 1)
        for url in ["https://idp.example/plain", "https://idp.example/file"] {
            let refused = await fetch(url)
            if case .failure(.malformed) = refused.result {} else { Issue.record("\(url): \(refused.result)") }
            #expect(refused.connections.count == 1)
        }
        #expect(await fetch("https://idp.example/loop").result == .failure(.tooManyRedirects))
        #expect(await fetch("https://idp.example/nowhere").result == .failure(.status(302)))
    }

    @Test("a name that means something else a moment later is checked again")
    func checksRebinding() async {
        let (result, made) = await fetch("https://idp.example/again")
        #expect(result == .failure(.privateNetwork(host: "turns.example")))
        #expect(made.last == "https://turns.example/ at 93.184.216.34")
    }

    @Test(
        "what is no https address is not asked for",
        arguments: [
            "", "idp.example", "http://idp.example/", "ftp://idp.example/", "https://", "https://user@idp.example/", "https://a:b@idp.example/",
            "https://idp_x.example/", "https://idp.example\\@127.0.0.1/", "https://" + String(repeating: "a", count: 2050),
        ])
    func refusesAddresses(url: String) async {
        let (result, made) = await fetch(url)
        if case .failure(.malformed) = result {} else { Issue.record("\(url): \(result)") }
        #expect(made.isEmpty)
    }

    @Test("what is too large, too slow, unknown or not there says so")
    func refusesDocuments() async {
        #expect(await fetch("https://idp.example/large").result == .failure(.tooLarge(262_144)))
        #expect(await fetch("https://idp.example/slow").result == .failure(.tooSlow))
        #expect(await fetch("https://idp.example/none").result == .failure(.status(404)))
        #expect(await fetch("https://nobody.example/").result == .failure(.unknownName(host: "nobody.example")))
    }

    @Test("a setting allows this machine, and plain HTTP")
    func allowsPrivate() async throws {
        #expect(try await fetch("http://127.0.0.1:8090/metadata", allowsPrivate: true).result.get().url == "http://127.0.0.1:8090/metadata")
    }

    @Test("the machine's own names: numbers in any writing are the addresses that they mean")
    func resolves() async throws {
        let names = SystemNames()
        for host in ["127.0.0.1", "2130706433", "127.1", "0x7f.0.0.1"] {
            #expect(try await names.addresses(of: host, timeLeft: .seconds(5)).map(\.octets) == [[127, 0, 0, 1]], "\(host)")
        }
        #expect(try await names.addresses(of: "::1", timeLeft: .seconds(5)).first?.octets == [UInt8](repeating: 0, count: 15) + [1])
    }

    @Test("special blocks are no public addresses, their neighbours are")
    func classifies() {
        let refused = [
            "0.0.0.0", "10.255.255.255", "100.64.0.1", "127.0.0.1", "169.254.1.1", "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1",
            "192.168.0.1",
            "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1", "::ffff:8.8.8.8",
            "64:ff9b::808:808", "fe80::1", "fc00::1", "ff02::1", "2001:db8::1", "2001::1", "2002:808:808::1", "3fff::1",
        ]
        for text in refused { #expect(!PublicAddress.contains(Names.octets(text)) && !PublicAddress.contains(text), "\(text)") }
        for text in ["", "localhost", "1.2.3", "8.8.8.8:80", "[2a00::1]"] { #expect(!PublicAddress.contains(text), "\(text)") }
        for text in [
            "8.8.8.8", "172.15.255.255", "172.32.0.1", "100.63.255.255", "100.128.0.1", "198.17.255.255", "223.255.255.255", "2606:2800::1",
            "2a00::1",
        ] {
            #expect(PublicAddress.contains(Names.octets(text)) && PublicAddress.contains(text), "\(text)")
        }
        #expect(!PublicAddress.contains([1, 2, 3]))
    }
}
