internal import CommandKit
internal import Foundation

/// What somebody brings to a cluster in place of the demo: a catalogue, and settings of programs.
struct OwnFiles: Sendable {
    /// Path of a catalogue file.
    var catalogue: String?
    /// Path of a folder with `SERVICE.json` files.
    var settings: String?

    /// What was copied.
    struct Copied {
        /// Services whose settings say something else now.
        var services: Set<ClusterService> = []
        /// Where files of somebody's are now that stood in the place.
        var kept: [URL] = []
        /// Files that are now what was brought.
        var brought: [URL] = []
    }

    /// Checks all of it, and only then copies it into the home; a file of somebody's that it replaces is kept under another name.
    /// - Parameters:
    ///   - programs: Those that check their own settings.
    ///   - written: Which files are the demo's, and may go.
    /// - Throws: `CommandFailure` with everything that is wrong; nothing was copied then.
    func copy(to home: ClusterHome, ports: PortPlan, programs: [ClusterService: ProgramFile], written: inout WrittenFiles) throws -> Copied {
        let catalogue = try catalogue.map { try OwnCatalogue(file: $0, home: home) }
        let services = try settings.map { try OwnSettings(folder: $0) }
        // A program that checks its settings also reads the catalogue that they name: the one that is brought, where there is none yet.
        let isFirst = !FileManager.default.fileExists(atPath: home.catalogue.path)
        if isFirst, let catalogue { try WrittenFiles.replace(home.catalogue, with: catalogue.copy) }
        do {
            try services?.check(in: home, ports: ports, programs: programs)
        } catch {
            if isFirst, catalogue != nil { try? FileManager.default.removeItem(at: home.catalogue) }
            throw error
        }
        var copied = Copied()
        var files: [(URL, Data)] = (services?.files ?? [:]).map { (home.settings(of: $0.key), $0.value) }
        if let catalogue { files.append((home.catalogue, catalogue.copy)) }
        for (file, content) in files.sorted(by: { $0.0.path < $1.0.path }) {
            copied.brought.append(file)
            guard FileManager.default.contents(atPath: file.path) != content else { continue }
            if let place = try written.giveWay(file) { copied.kept.append(place) }
            try WrittenFiles.replace(file, with: content)
            if let service = ClusterService.allCases.first(where: { home.settings(of: $0) == file }) { copied.services.insert(service) }
        }
        return copied
    }
}
