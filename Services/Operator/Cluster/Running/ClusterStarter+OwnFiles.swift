internal import CommandKit
internal import Contracts
internal import Foundation

extension ClusterStarter {
    /// Takes in what somebody brings, and says where what was there is now.
    func takeOwnFiles(_ programs: [ClusterService: ProgramFile]) throws -> OwnFiles.Copied {
        guard own.catalogue != nil || own.settings != nil else { return OwnFiles.Copied() }
        var written = WrittenFiles(record: home.writtenFiles)
        let copied = try own.copy(to: home, ports: ports, programs: programs, written: &written)
        try written.save()
        for file in copied.kept { console.note("  What you had there before is \(file.path) now") }
        return copied
    }

    /// Stops services that have other settings now.
    /// - Returns: What goes on.
    func stop(_ running: [ServiceCopy: Int32], toChange changed: Set<ClusterService>) async -> [ServiceCopy: Int32] {
        let outdated = running.filter { changed.contains($0.key.service) }
        guard !outdated.isEmpty else { return running }
        let names = outdated.keys.sorted(by: Self.precede).map(\.name)
        console.note("  \(console.bold("Starting \(names.joined(separator: ", ")) again")): it has other settings")
        _ = await ClusterStopper.stop(outdated.map { ServiceProcess($0.key, pid: $0.value) })
        return running.filter { outdated[$0.key] == nil }
    }

    /// Says when `config` does not take in the catalogue file because it changed beside what administrators pushed, and what it would change.
    func tellCatalogue(_ file: ClusterFile, isBrought: Bool) async {
        do {
            let answer = try await CatalogueImporter(file).bring(nil, isForced: false)
            let lines = try answer.told(of: home.catalogue.path)
            if isBrought { for line in lines { console.note("  \(line)") } }
        } catch {
            console.note("  \(console.bad(PlainReason.of(error)))")
        }
    }
}
