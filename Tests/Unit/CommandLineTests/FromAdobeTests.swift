@testable import AdministrationCommands
@testable import CommandKit
import CatalogueFiles
import Foundation
import Synchronization
import Testing

/// The result of `boxoffice catalogue from-adobe` for a vendor's answers, written by its public documents (rest-v1 §3.3, rest-v2 §2.1).
@Suite("Catalogue files of a vendor's configuration") struct FromAdobeTests {
    private static let json = """
        {"requestor": {"id": "CHAN7", "name": "Channel Seven",
          "domains": [{"name": "Chan7.example", "mvpdInitiated": false}, {"name": "more.example", "mvpdInitiated": true}],
          "mvpds": [
            {"id": "DemoCable", "displayName": "Demo & Cable", "logoUrl": "https://img.chan7.example/dc.png", "authPerAggregator": true,
             "iFrameRequired": true, "iFrameWidth": 600, "iFrameHeight": 400, "enablePlatformServices": true, "boardingStatus": "SUPPORTED",
             "displayInPlatformPicker": true, "platformMappingId": "demo-cable", "requiredMetadataFields": ["uid", "NameID"]},
            {"id": "HillTel", "displayName": "Hill Tel", "logoUrl": "http://img.hill.example/no-tls.png", "isProxy": true},
            {"id": "TempPass10", "displayName": "Ten minutes", "isTempPass": true}, {"id": "not an id", "displayName": "Odd"}]}}
        """
    private static let xml = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <config><requestor><id>CHAN7</id><name>Channel Seven</name>
          <domains><domain><name>Chan7.example</name><mvpdInitiated>false</mvpdInitiated></domain>
            <domain><name>more.example</name><mvpdInitiated>true</mvpdInitiated></domain></domains>
          <mvpds>
            <mvpd><id>DemoCable</id><displayName>Demo &amp; Cable</displayName><logoUrl>https://img.chan7.example/dc.png</logoUrl>
              <authPerAggregator>true</authPerAggregator><iFrameRequired>true</iFrameRequired><iFrameWidth>600</iFrameWidth><iFrameHeight>400</iFrameHeight>
              <enablePlatformServices>true</enablePlatformServices><boardingStatus>SUPPORTED</boardingStatus>
              <displayInPlatformPicker>true</displayInPlatformPicker><platformMappingId>demo-cable</platformMappingId>
              <requiredMetadataFields><field>uid</field><field>NameID</field></requiredMetadataFields></mvpd>
            <mvpd><id>HillTel</id><displayName>Hill Tel</displayName><logoUrl>http://img.hill.example/no-tls.png</logoUrl><isProxy>true</isProxy></mvpd>
            <mvpd><id>TempPass10</id><displayName>Ten minutes</displayName><isTempPass>true</isTempPass></mvpd>
            <mvpd><id>not an id</id><displayName>Odd</displayName></mvpd>
          </mvpds></requestor></config>
        """

    private static func read(_ text: String) throws -> VendorConfiguration { try VendorConfiguration(Array(text.utf8), from: "answer") }

    private static func draft(bridge: String? = nil, _ answers: [(String, String?)]) throws -> VendorDraft {
        var draft = VendorDraft(bridge: bridge)
        for (text, platform) in answers { draft.take(try read(text), platform: platform) }
        return draft
    }

    private static func folder() -> URL { FileManager.default.temporaryDirectory.appendingPathComponent("from-adobe-\(UUID().uuidString)") }

    // MARK: Reading

    @Test("JSON, XML, an answer with the list beside the requestor, and one with a byte order mark say the same")
    func reads() throws {
        let first = try Self.read(Self.json)
        #expect(first.id == "CHAN7" && first.name == "Channel Seven")
        #expect(
            first.domains == [
                .init(name: "chan7.example", isMvpdInitiated: false), .init(name: "more.example", isMvpdInitiated: true),
            ])
        let cable = try #require(first.providers.first)
        #expect(cable.name == "Demo & Cable" && cable.switches == ["authPerAggregator", "iframeRequired"])
        #expect(cable.window == .init(width: 600, height: 400) && cable.boarding?.metadataFields == ["uid", "NameID"])
        let second = try Self.read(Self.xml)
        #expect(second.domains == first.domains && second.providers == first.providers)
        let marked = try VendorConfiguration([0xEF, 0xBB, 0xBF] + Array(Self.json.utf8), from: "answer")
        #expect(marked.providers == first.providers)
        let beside = try Self.read(#"{"requestor": {"id": "CHAN7", "domains": ["chan7.example"]}, "mvpds": {"mvpd": {"id": "DemoCable"}}}"#)
        #expect(beside.domains.map(\.name) == ["chan7.example"] && beside.providers.map(\.name) == ["DemoCable"])
    }

    @Test(
        "what is no configuration is refused by its name",
        arguments: [
            "", "{", "[]", "{}", #"{"requestor": {"id": "a b"}}"#, "<html><body>Gone</body></html>", "<!DOCTYPE html><html></html>",
            "<config><requestor><id>X</id>",
        ])
    func refuses(text: String) throws {
        let failure = try #require(throws: CommandFailure.self) { try Self.read(text) }
        #expect(failure.description.hasPrefix("answer ") && failure.exit == .usage, "\(failure)")
    }

    @Test("an answer beyond four mebibytes is not read")
    func bounds() throws {
        let long = Array(repeating: UInt8(ascii: " "), count: VendorConfiguration.largest) + Array(Self.json.utf8)
        let failure = try #require(throws: CommandFailure.self) { try VendorConfiguration(long, from: "answer") }
        #expect(failure.description.contains("more than 4 MiB"))
    }

    // MARK: Documents

    @Test("channel, MVPDs, what platforms know and integrations become documents; nothing is invented")
    func drafts() throws {
        let draft = try Self.draft([(Self.json, "ios"), (Self.xml, "tvos")])
        #expect(draft.mvpdIDs == ["DemoCable", "HillTel", "TempPass10"] && draft.leftOut.map(\.text) == ["not an id"])
        let catalogue = draft.catalogue(upstream: VendorServer.usual)
        #expect(catalogue["upstreams"] == nil)
        let requestor = try #require((catalogue["requestors"] as? [[String: Any]])?.first)
        #expect(requestor["programmer"] as? String == "CHAN7")
        #expect((requestor["domains"] as? [Any])?.first as? String == "chan7.example")
        let document = draft.document(of: "DemoCable") as NSDictionary
        func block(_ platform: String) -> [String: Any] {
            [
                "platform": platform, "boardingStatus": "SUPPORTED", "platformMappingId": "demo-cable", "enablePlatformServices": true,
                "displayInPlatformPicker": true, "requiredMetadataFields": ["uid", "NameID"],
            ]
        }
        let entry: [String: Any] = [
            "id": "DemoCable", "displayName": "Demo & Cable", "logoUrl": "https://img.chan7.example/dc.png", "authPerAggregator": true,
            "iframeRequired": true, "iframeWidth": 600, "iframeHeight": 400, "platforms": [block("ios"), block("tvos")],
        ]
        let integration: [String: Any] = ["requestor": "CHAN7", "mvpd": "DemoCable", "platformSso": true]
        #expect(document == ["mvpds": [entry], "integrations": [integration]] as NSDictionary)
        #expect(
            draft.document(of: "HillTel") as NSDictionary == [
                "mvpds": [["id": "HillTel", "displayName": "Hill Tel"]], "integrations": [["requestor": "CHAN7", "mvpd": "HillTel"]],
            ] as NSDictionary)
    }

    @Test("what is missing is told with who has it: of an MVPD, of one behind a proxy, and of a trial")
    func tellsGaps() throws {
        let draft = try Self.draft([(Self.json, "ios")])
        #expect(draft.gaps(of: "DemoCable").map(\.name) == ["signIn", "certificates", "attributes", "decisions", "lifetimes", "metadataKeys"])
        #expect(draft.gaps(of: "HillTel").last?.name == "proxy")
        #expect(draft.gaps(of: "TempPass10").map(\.name) == ["trial"])
        #expect(Set(draft.gaps(of: "HillTel").map(\.who)) == ["the MVPD", "the vendor's dashboard"])
        let summary = CatalogueFromAdobeCommand.summary(draft)
        #expect(summary.first?.hasPrefix("2  the MVPD: its SAML metadata") == true && summary.count == 8)
    }

    @Test("what a platform's record lacks, and an id that two MVPDs have there, are left out and told")
    func boards() throws {
        func answer(_ mvpds: String) -> String { #"{"requestor": {"id": "CHAN7", "mvpds": [\#(mvpds)]}}"# }
        let v2 = answer(#"{"id": "DemoCable", "boardingStatus": "SUPPORTED", "platformMappingId": "demo"}"#)
        let two = answer(
            #"{"id": "DemoCable", "boardingStatus": "PICKER", "platformMappingId": "demo"}, {"id": "Twin", "boardingStatus": "PICKER", "platformMappingId": "demo"}"#
        )
        let draft = try Self.draft([(v2, "ios"), (two, "roku")])
        let gaps = draft.gaps(of: "DemoCable").filter { $0.name == "boarding" }
        #expect(gaps == [.init(name: "boarding", what: "its requiredMetadataFields (ios)", who: "Apple")])
        #expect(draft.gaps(of: "Twin").last?.what == "a platformMappingId of its own, as DemoCable has the same (roku)")
        let entry = try #require((draft.document(of: "DemoCable")["mvpds"] as? [[String: Any]])?.first)
        #expect((entry["platforms"] as? [[String: Any]])?.compactMap { $0["platform"] as? String } == ["roku"])
        #expect(try Self.draft([(v2, nil)]).gaps(of: "DemoCable").last?.what.contains("--platform") == true)
    }

    @Test("with the bridge all files make a catalogue at once; without it an MVPD's file says what it lacks")
    func isApplied() throws {
        let empty = CatalogueDocument(.object([:]))
        for bridge in ["vendor", nil] {
            let folder = Self.folder()
            defer { try? FileManager.default.removeItem(at: folder) }
            let draft = try Self.draft(bridge: bridge, [(Self.json, "ios"), (Self.json, "tvos")])
            let written = try VendorFiles(folder: folder).write(draft, upstream: "https://api.vendor.example")
            #expect(written.made == ["catalogue.json", "mvpds/DemoCable.json", "mvpds/HillTel.json", "mvpds/TempPass10.json"])
            let paths = written.made.map { folder.appendingPathComponent($0).path }
            let channels = try WantedCatalogue(files: bridge == nil ? [paths[0]] : paths)
            #expect(try channels.problems(over: empty, removing: []) == [])
            guard bridge == nil else { continue }
            let problems = try WantedCatalogue(files: paths).problems(over: empty, removing: [])
            #expect(problems.contains { $0.hasPrefix("\(paths[1]): mvpds/DemoCable: must have exactly one of 'saml'") }, "\(problems)")
            #expect(problems.contains { $0.hasPrefix("\(paths[3]): mvpds/TempPass10: tempPass.ttl is missing") }, "\(problems)")
        }
    }

    // MARK: Files

    @Test("files that are there stay; the list gets what is new, and keeps who was asked")
    func keeps() throws {
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = VendorFiles(folder: folder)
        _ = try files.write(try Self.draft([(Self.json, "ios")]), upstream: VendorServer.usual)
        let mvpd = folder.appendingPathComponent("mvpds/DemoCable.json")
        try Data("mine".utf8).write(to: mvpd)
        let list = folder.appendingPathComponent("mvpds.json")
        var kept = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: list)) as? [String: Any])
        var entries = try #require(kept["mvpds"] as? [[String: Any]])
        #expect(entries.map { $0["id"] as? String } == ["DemoCable", "HillTel", "TempPass10"])
        #expect(entries[1]["proxied"] as? Bool == true && entries[2]["trial"] as? Bool == true)
        entries[0]["asked"] = "2026-12-02"
        kept["mvpds"] = entries + [["id": "Gone", "displayName": "Gone"]]
        try JSONSerialization.data(withJSONObject: kept).write(to: list)

        let other = Self.json.replacing("CHAN7", with: "CHAN8").replacing("HillTel", with: "NewTel")
        let written = try files.write(try Self.draft([(other, "ios")]), upstream: VendorServer.usual)
        #expect(written.made == ["mvpds/NewTel.json"] && written.kept == ["catalogue.json", "mvpds/DemoCable.json", "mvpds/TempPass10.json"])
        #expect(try String(contentsOf: mvpd, encoding: .utf8) == "mine")
        let again = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: list)) as? [String: Any])
        let later = try #require(again["mvpds"] as? [[String: Any]])
        #expect(Set(later.compactMap { $0["id"] as? String }) == ["DemoCable", "HillTel", "NewTel", "TempPass10", "Gone"])
        let cable = try #require(later.first { $0["id"] as? String == "DemoCable" })
        #expect(cable["asked"] as? String == "2026-12-02" && cable["requestors"] as? [String] == ["CHAN7", "CHAN8"])
        #expect((again["requestors"] as? [String: String])?.keys.sorted() == ["CHAN7", "CHAN8"])

        try Data("{".utf8).write(to: list)
        let failure = try #require(throws: CommandFailure.self) { try files.write(try Self.draft([(other, "ios")]), upstream: VendorServer.usual) }
        #expect(failure.description.contains("mvpds.json is damaged"))
    }

    // MARK: Asking

    private func run(_ words: [String], _ answer: @escaping @Sendable (StubRequest) -> StubAnswer) async throws -> (URL, [StubRequest]) {
        let folder = Self.folder()
        let seen = Seen()
        try await StubServer.with(
            { request in
                seen.add(request)
                return answer(request)
            },
            { server in
                try await CatalogueFromAdobeCommand.parse(words + ["--base", server.url, "--output", folder.path, "--json"]).run()
            })
        return (folder, seen.all)
    }

    private final class Seen: Sendable {
        private let requests = Mutex<[StubRequest]>([])

        var all: [StubRequest] { requests.withLock { $0 } }

        func add(_ request: StubRequest) { requests.withLock { $0.append(request) } }
    }

    private static func found(_ body: String) -> StubAnswer { StubAnswer(status: 200, headers: [("Content-Type", "text/plain")], body: body) }

    @Test("v1 is asked for each platform, without credentials, and a redirect on the same server is followed")
    func asksFirstVersion() async throws {
        let (folder, requests) = try await run(["CHAN7"]) { request in
            request.path == "/api/v1/config/CHAN7" ? StubAnswer(status: 302, headers: [("Location", "/elsewhere")]) : Self.found(Self.xml)
        }
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(requests.count == 8 && requests.allSatisfy { $0.method == "GET" && $0.header("authorization") == nil && $0.header("cookie") == nil })
        let devices = requests.compactMap {
            $0.header("x-device-info").flatMap { Data(base64Encoded: $0) }.map { String(decoding: $0, as: UTF8.self) }
        }
        for name in [#""osName":"iOS""#, #""osName":"tvOS""#, #""osName":"Roku OS""#, #""model":"AFTKA""#] {
            #expect(devices.count { $0.contains(name) } == 2, "\(name)")
        }
        #expect(FileManager.default.fileExists(atPath: folder.appendingPathComponent("mvpds/DemoCable.json").path))
    }

    @Test("with a statement one client is registered, and v2 asked; statement, secret and token are in no file")
    func asksSecondVersion() async throws {
        let statement = Self.folder()
        try Data("statement.of.acme\n".utf8).write(to: statement)
        defer { try? FileManager.default.removeItem(at: statement) }
        let (folder, requests) = try await run(["CHAN7", "--platform", "tvos", "--statement", statement.path]) { request in
            switch request.path {
            case "/o/client/register": .json(201, ["client_id": "client-1", "client_secret": "secret-1"])
            case "/o/client/token": .json(201, ["access_token": "token-1"])
            default: Self.found(Self.json)
            }
        }
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(requests.map(\.path) == ["/o/client/register", "/o/client/token", "/api/v2/CHAN7/configuration"])
        #expect(requests[0].body.contains("statement.of.acme") && requests[1].values["client_secret"] == "secret-1")
        #expect(
            requests[2].header("authorization") == "Bearer token-1" && requests[2].header("ap-device-identifier")?.hasPrefix("fingerprint ") == true)
        let walk = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        let texts = walk.compactMap { ($0 as? URL).flatMap { try? String(contentsOf: $0, encoding: .utf8) } }
        #expect(texts.count == 5)
        for secret in ["statement.of.acme", "secret-1", "token-1", "client-1"] { #expect(!texts.contains { $0.contains(secret) }) }
    }

    @Test("another host, another port and plain HTTP get nothing, least of all a token")
    func staysAtTheServer() throws {
        let address = "https://api.vendor.example/api/v1/config/CHAN7"
        #expect(try VendorServer.next("/a?b=c", from: address) == "https://api.vendor.example/a?b=c")
        #expect(try VendorServer.next("https://API.vendor.example:443/a", from: address) == "https://API.vendor.example:443/a")
        for other in [
            "https://evil.example/a", "http://api.vendor.example/a", "https://api.vendor.example:8443/a", "//evil.example/a",
            "https://api.vendor.example@evil.example/",
        ] {
            let failure = try #require(throws: CommandFailure.self) { try VendorServer.next(other, from: address) }
            #expect(failure.description.contains("redirects elsewhere"), "\(other)")
        }
    }

    @Test("a redirect elsewhere, an unknown requestor, an ended API, an endless answer and a refused statement say what to do")
    func refusesAnswers() async throws {
        let statement = Self.folder()
        try Data("statement.of.acme".utf8).write(to: statement)
        defer { try? FileManager.default.removeItem(at: statement) }
        let long = String(repeating: " ", count: VendorConfiguration.largest + 1)
        for (words, answer, said) in [
            ([], StubAnswer(status: 301, headers: [("Location", "http://127.0.0.1:1/x")]), "redirects elsewhere, to 127.0.0.1"),
            ([], StubAnswer(status: 302, headers: [("Location", "/api/v1/config/CHAN7")]), "redirects again and again"),
            ([], .json(400, ["status": 400]), "does not know the requestor CHAN7"), ([], .json(404, ["status": 404]), "answered 404"),
            ([], Self.found(long), "answers more than 4 MiB"),
            (["--bearer-file", statement.path], .json(401, ["status": 401]), "refuses the access token"),
            (["--statement", statement.path], .json(400, ["error": "invalid_software_statement"]), "400 (invalid_software_statement)"),
            (["--statement", statement.path], .json(400, ["error": "statement.of.acme"]), "refuses the software statement: 400: is it"),
        ] as [([String], StubAnswer, String)] {
            let failure = try await #require(throws: CommandFailure.self) {
                _ = try await run(["CHAN7", "--platform", "ios"] + words) { _ in answer }
            }
            #expect(failure.description.contains(said) && !failure.description.contains("statement.of.acme"), "\(failure)")
        }
    }

    @Test(
        "what cannot be asked for is refused before anything is asked",
        arguments: [
            [], ["CHAN 7"], ["CHAN7", "--platform", "xbox"], ["a.json", "--platform", "ios", "--platform", "tvos"], ["a.json", "--statement", "x"],
            ["CHAN7", "--statement", "x", "--bearer-file", "y"], ["CHAN7", "--base", "http://vendor.example"],
            ["CHAN7", "--base", "https://vendor.example/path"], ["CHAN7", "--bridge", "a b"],
        ])
    func refusesWords(words: [String]) { #expect(throws: (any Error).self) { try CatalogueFromAdobeCommand.parse(words) } }

    @Test("a file needs no vendor")
    func readsFiles() async throws {
        let folder = Self.folder()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("chan7.xml")
        try Data(Self.xml.utf8).write(to: file)
        let output = folder.appendingPathComponent("out")
        try await CatalogueFromAdobeCommand.parse([file.path, "--platform", "tvos", "--output", output.path, "--json"]).run()
        #expect(try FileManager.default.contentsOfDirectory(atPath: output.appendingPathComponent("mvpds").path).count == 3)
        await #expect(throws: CommandFailure.self) { try await CatalogueFromAdobeCommand.parse(["./none.xml", "--output", output.path]).run() }
    }
}
