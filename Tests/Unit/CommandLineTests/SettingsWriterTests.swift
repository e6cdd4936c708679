@testable import ClusterCommands
@testable import CommandKit
internal import Foundation
internal import Testing

/// The home of a cluster in use: changes by its user are kept.
@Suite struct SettingsWriterTests {
    private static let checkout = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardizedFileURL

    private let home: ClusterHome
    private let pki: LocalPki

    init() throws {
        home = ClusterHome(root: FileManager.default.temporaryDirectory.appendingPathComponent("home-\(UUID().uuidString)"))
        try home.prepare()
        pki = LocalPki(folder: home.pki)
    }

    @discardableResult
    private func write(_ base: Int? = nil) throws -> [URL] {
        try SettingsWriter(home: home, ports: PortPlan(base: base), checkout: Self.checkout, pki: pki).write()
    }

    private var files: [URL] { ClusterService.allCases.map(home.settings(of:)) + [home.catalogue] }

    private func contents() throws -> [Data] { try files.map { try Data(contentsOf: $0) } }

    @Test("what is missing is made; written again nothing changes; other ports change untouched files")
    func writesWhatIsMissing() throws {
        #expect(try write().isEmpty)
        let first = try contents()
        #expect(try write().isEmpty)
        #expect(try contents() == first)
        #expect(try write(22000).isEmpty)
        #expect(try contents() != first)
        try FileManager.default.removeItem(at: home.settings(of: .gateway))
        #expect(try write(22000).isEmpty)
        #expect(FileManager.default.fileExists(atPath: home.settings(of: .gateway).path))
    }

    @Test("the demo has a test user at each MVPD of its own, or at none, and nothing else differs")
    func testUsers() throws {
        func catalogue(hasTestUsers: Bool) throws -> [String: Any] {
            var writer = SettingsWriter(home: home, ports: PortPlan(base: nil), checkout: Self.checkout, pki: pki)
            writer.hasTestUsers = hasTestUsers
            return try #require(try JSONSerialization.jsonObject(with: try writer.catalogue()) as? [String: Any])
        }
        var (with, without) = (try catalogue(hasTestUsers: true), try catalogue(hasTestUsers: false))
        let mvpds = try #require(with["mvpds"] as? [[String: Any]])
        #expect(mvpds.filter { $0["testSignIn"] != nil }.compactMap { $0["id"] as? String } == ["NorthCable", "LakeTel", "OpenFiber"])
        let bare = mvpds.map { mvpd in mvpd.filter { $0.key != "testSignIn" } }
        #expect((without["mvpds"] as? [[String: Any]]).map { $0 as NSArray } == bare as NSArray)
        (with["mvpds"], without["mvpds"]) = (nil, nil)
        #expect(with as NSDictionary == without as NSDictionary)
    }

    @Test("changed settings and a changed catalogue are kept through every later start, and are named")
    func keepsWhatSomebodyWrote() throws {
        try write()
        let mine = [home.settings(of: .authentication), home.catalogue]
        for file in mine { try Data("{ \"mine\": true }".utf8).write(to: file) }
        for base in [nil, 22000, nil] {
            #expect(Set(try write(base)) == Set(mine))
            for file in mine { #expect(try String(contentsOf: file, encoding: .utf8) == "{ \"mine\": true }") }
        }
    }

    @Test("a folder of an earlier release, which did not record what it wrote, counts as changed")
    func keepsAnEarlierFolder() throws {
        try write()
        try FileManager.default.removeItem(at: home.writtenFiles)
        var catalogue = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: home.catalogue)) as? [String: Any])
        catalogue["mvpds"] = ((catalogue["mvpds"] as? [[String: Any]]) ?? []).filter { $0["id"] as? String != "LakeTel" }
        let edited = try JSONSerialization.data(withJSONObject: catalogue)
        try edited.write(to: home.catalogue)
        let before = try contents()
        #expect(try write(22000).count == files.count, "of ports nothing is known here")
        #expect(try contents() == before)
        let demo = Self.checkout.appendingPathComponent("Services/Config/demo-catalogue.json")
        #expect(CatalogueComparison.lacking(in: home.catalogue, of: demo).contains("mvpds/LakeTel"))
        #expect(CatalogueComparison.lacking(in: demo, of: demo).isEmpty)
    }
}
