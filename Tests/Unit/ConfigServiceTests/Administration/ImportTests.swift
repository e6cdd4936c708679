import CatalogueSamples
@testable import ConfigService
import ContractRuntime
import Contracts
import Faults
import Foundation
import Testing

/// A catalogue as a whole, beside what administrators pushed.
@Suite("Imports of a catalogue", .eachEngine)
struct ImportTests {
    private static let games = AdministrationWorld.catalogue.replacingOccurrences(of: #""name": "Sport""#, with: #""name": "Games""#)

    private func bring(
        _ admin: AdministrationWorld, _ catalogue: String, force: Bool = false, as who: AdministrationWorld.Who = .olga
    ) async throws -> CatalogueImport {
        let request = ImportCatalogueRequest(token: who.token, catalogue: catalogue, force: force)
        return try await admin.service.importCatalogue(request, context: CallContext())
    }

    private func pushed(_ admin: AdministrationWorld, _ name: String = "Late") async throws -> CatalogueVersion {
        try await admin.edit(.requestor, "NEWS") { $0["name"] = name }.changed()
        return try await admin.push().version()
    }

    private func names(_ admin: AdministrationWorld) -> [String?] { ["NEWS", "SPORT"].map(admin.requestorName) }

    @Test("a file that changed beside pushes is refused, with what it would change, at a poll and at a start")
    func fileBesidePushes() async throws {
        let admin = try await AdministrationWorld()
        let version = try await pushed(admin)
        try admin.world.write(Self.games, to: "catalogue.json")
        await admin.watcher.reloadIfChanged(into: admin.published)
        #expect(names(admin) == ["Late", "Sport"])
        let refused = try await bring(admin, "")
        guard case .refusal(let refusal) = refused.outcome else {
            Issue.record("\(refused)")
            return
        }
        #expect(refusal.reason == .conflict && refused.pushedVersions == [version.version] && refused.changeCount == 2)
        #expect(
            Set(refused.changes.map(\.text)) == [
                #"requestors/NEWS: name "Late" -> "News""#, #"requestors/SPORT: name "Sport" -> "Games""#,
            ])
        await admin.store.close()
        let again = try await AdministrationWorld(admin.world)
        #expect(names(again) == ["Late", "Sport"])
        #expect(try await again.versions().first?.version == version.version)
    }

    @Test("forced, the file is taken in; the record names the versions, which can be restored")
    func forcedFile() async throws {
        let admin = try await AdministrationWorld()
        let version = try await pushed(admin)
        try admin.world.write(Self.games, to: "catalogue.json")
        let taken = try await bring(admin, "", force: true)
        guard case .version(let newest) = taken.outcome else {
            Issue.record("\(taken)")
            return
        }
        #expect(taken.isNew && newest.version > version.version && newest.author == "catalogue file" && names(admin) == ["News", "Games"])
        let record = try #require(try await admin.audit().first)
        #expect(record.action == "import" && record.text.contains("\(version.version)"))
        let request = RestoreVersionRequest(token: AdministrationWorld.Who.olga.token, version: version.version)
        _ = try await admin.service.restoreVersion(request, context: CallContext())
        try await admin.push("as it was").version()
        #expect(names(admin) == ["Late", "Sport"])
        // The file is the same as at its last import.
        try admin.world.write(Self.games + "\n", to: "catalogue.json")
        await admin.watcher.reload(into: admin.published)
        #expect(names(admin) == ["Late", "Sport"])
    }

    @Test("a file that says what was pushed undoes nothing, and is the newest import from then on")
    func fileThatCatchesUp() async throws {
        let admin = try await AdministrationWorld()
        _ = try await pushed(admin, "Late")
        let same = AdministrationWorld.catalogue.replacingOccurrences(of: #""name": "News""#, with: #""name": "Late""#)
        try admin.world.write(same, to: "catalogue.json")
        await admin.watcher.reloadIfChanged(into: admin.published)
        #expect(names(admin) == ["Late", "Sport"])
        try admin.world.write(same.replacingOccurrences(of: #""name": "Sport""#, with: #""name": "Games""#), to: "catalogue.json")
        await admin.watcher.reloadIfChanged(into: admin.published)
        #expect(names(admin) == ["Late", "Games"])
    }

    @Test("without pushes a file may go back to what it was")
    func fileGoesBack() async throws {
        let admin = try await AdministrationWorld()
        for (text, name) in [(Self.games, "Games"), (AdministrationWorld.catalogue, "Sport"), (Self.games, "Games")] {
            try admin.world.write(text, to: "catalogue.json")
            await admin.watcher.reload(into: admin.published)
            #expect(names(admin) == ["News", name])
        }
    }

    @Test("copies with different files: each is taken in once, and does not undo the other's at the next start; an operator can ask for it")
    func filesOfCopies() async throws {
        let one = try await AdministrationWorld()
        let folder = try CatalogueFolder()
        try folder.write(Self.games, to: "catalogue.json")
        func other() -> CatalogueFileWatcher {
            CatalogueFileWatcher(
                file: folder.file, store: CatalogueStore(one.store), statementKeys: { one.keys.published }, clock: one.world.clock,
                logger: CatalogueFolder.silent)
        }
        one.published.publish(try await other().load())
        #expect(names(one) == ["News", "Games"])
        for _ in 0..<2 {
            let again = try await AdministrationWorld(one.world)
            #expect(names(again) == ["News", "Games"])
            _ = try await other().load()
            await again.watcher.reload(into: again.published)
            #expect(try await again.versions().count == 2)
        }
        // It changes to what nobody had, and back: the newest import is its own then.
        let again = try await AdministrationWorld(one.world)
        let bets = AdministrationWorld.catalogue.replacingOccurrences(of: #""name": "Sport""#, with: #""name": "Bets""#)
        for (text, name) in [(bets, "Bets"), (AdministrationWorld.catalogue, "Sport")] {
            try one.world.write(text, to: "catalogue.json")
            await again.watcher.reload(into: again.published)
            #expect(names(again) == ["News", name])
        }
        let last = try await other().load()
        #expect(last.configuration == again.published.configuration, "what the other file says was taken in once")
        let asked = try await other().importFile(isForced: false)
        #expect(asked?.verdict == .taken)
    }

    @Test("a catalogue that an operator brings: taken in, refused beside pushes, forced; the file stays what it is, and is not taken in again")
    func broughtCatalogue() async throws {
        let admin = try await AdministrationWorld()
        let first = try await bring(admin, Self.games)
        #expect(first.isNew && first.changeCount == 1 && names(admin) == ["News", "Games"])
        #expect(try await bring(admin, Self.games).isNew == false)
        _ = try await pushed(admin)
        let refused = try await bring(admin, AdministrationWorld.catalogue)
        guard case .refusal(let refusal) = refused.outcome else {
            Issue.record("\(refused)")
            return
        }
        #expect(refusal.reason == .conflict && refused.changeCount == 2 && names(admin) == ["Late", "Games"])
        #expect(try await bring(admin, Self.games, force: true).isNew && names(admin) == ["News", "Games"])
        await admin.store.close()
        let again = try await AdministrationWorld(admin.world)
        #expect(names(again) == ["News", "Games"])
    }

    @Test("a catalogue with problems is refused with all of them")
    func brokenCatalogue() async throws {
        let admin = try await AdministrationWorld()
        for (text, problems) in [("{", 1), (Self.games.replacingOccurrences(of: "reef\", \"domains", with: "nobody\", \"domain"), 2)] {
            guard case .refusal(let refusal) = try await bring(admin, text, force: true).outcome else {
                Issue.record("taken in: \(text)")
                continue
            }
            #expect(refusal.reason == .invalid && refusal.problems.count >= problems, "\(refusal)")
        }
        #expect(names(admin) == ["News", "Sport"])
    }

    @Test("only operators import", arguments: [AdministrationWorld.Who.ed, .vic, .proxy])
    func rights(who: AdministrationWorld.Who) async throws {
        let admin = try await AdministrationWorld()
        for text in ["", Self.games] {
            let fault = await #expect(throws: Fault.self) { _ = try await bring(admin, text, force: true, as: who) }
            #expect(fault?.code == .insufficientRole)
        }
        let stranger = await #expect(throws: Fault.self) { _ = try await bring(admin, Self.games, as: .stranger) }
        #expect(stranger?.code == .accessDenied)
    }

    @Test("where pushes need a second person an import waits for one, and the file cannot be forced")
    func secondPerson() async throws {
        let admin = try await AdministrationWorld(approvalRequired: true)
        let answer = try await bring(admin, Self.games)
        guard case .pending(let pending) = answer.outcome else {
            Issue.record("\(answer)")
            return
        }
        #expect(names(admin) == ["News", "Sport"])
        let request = DecidePushRequest(token: AdministrationWorld.Who.otto.token, id: pending.id, approve: true)
        _ = try await admin.service.decidePush(request, context: CallContext())
        #expect(names(admin) == ["News", "Games"])
        guard case .refusal(let refusal) = try await bring(admin, "", force: true).outcome else {
            Issue.record("forced by one person")
            return
        }
        #expect(refusal.reason == .secondPersonRequired)
    }
}
