internal import CatalogueFiles
internal import Clocks
internal import CommandKit
internal import Foundation

extension Doctor {
    /// An error that is older was looked at, or is history.
    private static let recent: Duration = .seconds(3600)
    private static let mostProblems = 5

    /// Checks that each program answers, is the newest, and has the same version as the others.
    func programs(_ status: ClusterStatus) -> [Finding] {
        var findings: [Finding] = []
        // A program that does not run is why others are not ready.
        let troubled = status.programs.filter { $0.state == .notRunning } + status.programs.filter { $0.state == .notReady }
        for program in troubled {
            let what = program.state == .notRunning ? "\(program.name) does not run" : "\(program.name) is not ready"
            let reasons = program.reasons.map { TerminalText.printable($0) }.joined(separator: "; ")
            findings.append(.wrong(.programs, reasons.isEmpty ? what : "\(what): \(reasons)", advice: advice(program)))
        }
        for program in status.programs where !program.notes.isEmpty {
            let notes = program.notes.map { TerminalText.printable($0) }.joined(separator: "; ")
            findings.append(
                .note(.programs, "\(program.name) is ready, but \(notes)", advice: "Shared/Documents/Operations/WhenItFails.md"))
        }
        for program in status.programs {
            guard let error = program.lastError, let moment = Timestamp(logged: error.time.utf8), moment > now - Self.recent else { continue }
            findings.append(
                .note(
                    .programs, "\(program.name) logged an error: \(error.text)",
                    advice: "'boxoffice logs \(program.name) --since 1h' shows what was around it"))
        }
        let versions = Set(status.programs.filter { $0.kind == .own && $0.name != "postgres" }.compactMap(\.version)).sorted()
        if versions.count > 1 {
            let list = status.programs.compactMap { program in program.version.map { "\(program.name) \($0)" } }.joined(separator: ", ")
            findings.append(
                .note(.programs, "programs are of several versions: \(list)", advice: "./Services/up starts those again that have changed"))
        }
        let outdated = outdated
        if !outdated.isEmpty {
            let are = outdated.count == 1 ? "was" : "were"
            findings.append(
                .note(.programs, "\(outdated.joined(separator: ", ")) \(are) built anew since the start", advice: "./Services/up starts them again"))
        }
        let told = versions.first.map { ", of version \($0)" } ?? ""
        return findings.isEmpty ? [.fine(.programs, "\(status.programs.count) programs are ready\(told)")] : findings
    }

    private func advice(_ program: ProgramStatus) -> String {
        switch (program.kind, program.state) {
        case (.replaced, _): "start it; it is yours, so ./Services/up does not"
        case (.host, _): "look at its log on that host; Shared/Documents/Operations/WhenItFails.md"
        case (.double, _): "end 'boxoffice run' and start it again"
        case (.own, .notRunning) where program.name == "postgres": "./Services/up starts it again"
        case (.own, .notRunning): "./Services/up starts it again; 'boxoffice logs \(program.name)' shows why it ended"
        case (.own, _): "'boxoffice logs \(program.name) --since 10m' shows what it tries; Shared/Documents/Operations/WhenItFails.md"
        }
    }

    /// Services that run from another program than lies in its place now.
    private var outdated: [String] {
        guard let cluster else { return [] }
        return cluster.processes.filter(\.isRunning).compactMap { process in
            guard let ran = cluster.program(of: process.copy) else { return nil }
            let now = try? ProgramFile(process.service, in: URL(fileURLWithPath: ran.path).deletingLastPathComponent(), build: ran.build)
            return now.map { $0.revision != ran.revision } ?? false ? process.copy.name : nil
        }
    }

    /// The catalogue file, as `config` reads it at its start.
    func catalogueFile() -> [Finding] {
        let path = home.catalogue.path
        guard FileManager.default.fileExists(atPath: path) else {
            guard isMade, cluster != nil else { return [] }
            return [
                .note(.catalogue, "there is no \(path)", advice: "nothing, where config has no catalogue file; else ./Services/up writes the demo's")
            ]
        }
        do throws(CatalogueRejection) {
            let content = try CatalogueFile(path: path).read(now: now)
            let counts = "\(content.configuration.requestors.count) requestors and \(content.configuration.mvpds.count) MVPDs"
            guard !content.warnings.isEmpty else { return [.fine(.catalogue, "\(path) is valid, with \(counts)")] }
            return [
                .note(.catalogue, "\(path): \(Self.list(content.warnings))", advice: "correct what is meant otherwise; Services/Config/README.md")
            ]
        } catch {
            return [
                .wrong(
                    .catalogue, "\(path): \(Self.list(error.problems))",
                    advice: "correct the file; config goes on with the version that it has. Services/Config/README.md describes it")
            ]
        }
    }

    private static func list(_ problems: [CatalogueProblem]) -> String {
        let more = problems.count > mostProblems ? ["and \(problems.count - mostProblems) more"] : []
        return (problems.prefix(mostProblems).map(\.description) + more).joined(separator: "\n")
    }

    /// Checks that all programs work with the same version of the catalogue.
    func catalogueVersions(_ status: ClusterStatus, _ cluster: ClusterFile) async throws -> [Finding] {
        var status = status
        if Self.versions(status).count > 1 {
            try await Task.sleep(for: patience)
            status = try await StatusReader.read(home, cluster)
        }
        return Self.versions(status).count > 1
            ? [Self.difference(status)] : Self.versions(status).first.map { [.fine(.catalogue, "all programs work with version \($0)")] } ?? []
    }

    static func difference(_ status: ClusterStatus) -> Finding {
        let list = status.programs.compactMap { program in program.catalogueVersion.map { "\(program.name) \($0)" } }.joined(separator: ", ")
        return .wrong(
            .catalogue, "programs work with several versions of the catalogue: \(list)",
            advice: "'boxoffice logs' shows why one does not follow config (events catalogue.* and rpc.*)")
    }

    /// Files of secrets about whose owner operators have to decide (clients §2). Other findings report a cluster that does not answer.
    func openSecrets(_ cluster: ClusterFile) async -> [Finding] {
        let answer = try? await HTTPExchange.once(trusting: cluster.authority) {
            try await $0.send("GET", "\(cluster.administration)/admin/v1/secrets", headers: [("Authorization", "Bearer \(cluster.adminToken)")])
        }
        guard let answer, answer.status == 200 else { return [] }
        return Self.openSecrets(answer.object)
    }

    /// - Parameter list: As `GET /admin/v1/secrets` answers it.
    static func openSecrets(_ list: [String: Any]) -> [Finding] {
        let open = (list["secrets"] as? [[String: Any]] ?? []).filter { $0["open"] as? Bool == true }.compactMap { $0["reference"] as? String }
        guard !open.isEmpty else { return [] }
        return [
            .note(
                .catalogue,
                "entries of several programmers name the secret files \(open.joined(separator: ", ")); nobody may newly name them but operators",
                advice: "'boxoffice secret owner REFERENCE --programmer ID' says whose each is; without --programmer it is the operators'")
        ]
    }

    private static func versions(_ status: ClusterStatus) -> Set<UInt64> { Set(status.programs.compactMap(\.catalogueVersion)) }
}

/// A finding of the examination of a cluster.
struct Finding: Sendable, Equatable, Encodable {
    enum Verdict: String, Sendable, Encodable {
        case fine
        /// To be looked at; the cluster works with it.
        case note
        case wrong
    }

    /// The areas of the examination.
    enum Area: String, Sendable, Encodable, CaseIterable {
        case home
        case settings
        case keys
        case certificates
        case clock
        case disk
        case ports
        case programs
        case catalogue
        /// Servers of others: MVPDs and upstreams.
        case peers
    }

    let area: Area
    let verdict: Verdict
    let what: String
    /// The advice; empty where all is well.
    let advice: String?

    static func fine(_ area: Area, _ what: String) -> Finding { Finding(area: area, verdict: .fine, what: what, advice: nil) }

    static func note(_ area: Area, _ what: String, advice: String) -> Finding {
        Finding(area: area, verdict: .note, what: what, advice: advice)
    }

    static func wrong(_ area: Area, _ what: String, advice: String) -> Finding {
        Finding(area: area, verdict: .wrong, what: what, advice: advice)
    }
}

/// All that was found.
struct Diagnosis: Sendable, Encodable {
    let home: String
    /// Nothing is wrong; there may be notes.
    let isWell: Bool
    let findings: [Finding]

    init(home: String, findings: [Finding]) {
        (self.home, self.findings) = (home, findings)
        isWell = !findings.contains { $0.verdict == .wrong }
    }

    func lines(_ console: Console) -> [String] {
        findings.flatMap { finding in
            let verdict = finding.verdict.rawValue.padding(toLength: 5, withPad: " ", startingAt: 0)
            let coloured =
                switch finding.verdict {
                case .fine: console.good(verdict)
                case .note: console.bold(verdict)
                case .wrong: console.bad(verdict)
                }
            let area = finding.area.rawValue.padding(toLength: 12, withPad: " ", startingAt: 0)
            let what = finding.what.split(separator: "\n").joined(separator: "\n" + String(repeating: " ", count: 22))
            return ["  \(coloured)  \(area)  \(what)"]
                + (finding.advice.map { [String(repeating: " ", count: 22) + console.faint("-> \($0)")] } ?? [])
        }
    }
}
