package import Foundation
internal import ServiceKit

/// One program of the cluster as it lies on disk: what a process that is started from it now runs.
package struct ProgramFile: Sendable, Equatable {
    /// Absolute, without symbolic links.
    package let path: String
    /// `debug` or `release`. All programs of a folder are of one build, so it is that of this one.
    package let build: String
    /// Tells one content of the file from another without reading it: its size in bytes, and its last change in ns since 1970.
    package let revision: String

    package init(path: String, build: String, revision: String) { (self.path, self.build, self.revision) = (path, build, revision) }

    /// - Parameter folder: The folder of all programs.
    /// - Throws: `CommandFailure` when it is not there or cannot be executed.
    package init(_ service: ClusterService, in folder: URL, build: String = SoftwareVersion.build) throws {
        path = folder.appendingPathComponent(service.rawValue).resolvingSymlinksInPath().path
        var facts = stat()
        guard access(path, X_OK) == 0, stat(path, &facts) == 0 else {
            throw CommandFailure("\(path) is not built", advice: "run ./Services/up, which builds it")
        }
        self.build = build
        let changed = Int64(facts.st_mtim.tv_sec) * 1_000_000_000 + Int64(facts.st_mtim.tv_nsec)
        revision = "\(facts.st_size)-\(changed)"
    }

    /// Returns why processes of these programs have to be started again, in one line.
    /// - Parameter outdated: The program from which each was started, as far as that is known, and the program there now.
    package static func reason(_ outdated: [(ran: ProgramFile?, now: ProgramFile)]) -> String {
        let isOne = outdated.count == 1
        guard let now = outdated.first?.now else { return "" }
        let builds = Set(outdated.compactMap(\.ran?.build)).subtracting([now.build]).sorted()
        if !builds.isEmpty { return "\(isOne ? "it ran" : "they ran") a \(builds.joined(separator: " and a ")) build, this is a \(now.build) build" }
        if outdated.contains(where: { $0.ran == nil }) { return "what \(isOne ? "it was" : "they were") built from is not known" }
        if outdated.contains(where: { $0.ran?.path != $0.now.path }) {
            return "\(isOne ? "its program is" : "their programs are") now in another folder"
        }
        return "\(isOne ? "its program was" : "their programs were") built anew"
    }
}
