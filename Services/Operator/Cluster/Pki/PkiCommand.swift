package import ArgumentParser
internal import Clocks
internal import CommandKit
internal import Foundation
internal import Logging
internal import ServiceKit

/// `boxoffice pki`: makes the keys and certificates of a local cluster.
package struct PkiCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "pki",
        abstract: "Make the keys and certificates of a local cluster.",
        discussion: """
            What is missing is made, a certificate with less than a third of its time left is renewed, what is there is kept. A running service takes a \
            renewed certificate without a restart. A cluster that 'up' started renews its certificates by itself.

            With --issue NAME: a certificate for NAME.boxoffice with a key of its own, signed by the local authority, and the authority's certificate, \
            in the folder that --folder names. That is what a service of yours needs in place of NAME, or a new caller.

            With --host HOST too, the certificate is for that host: its second name is NAME.HOST.boxoffice, it is not good for localhost, and it ends \
            after 90 days.
            """
    )

    @Option(help: "The folder they go to; default: pki in $BOXOFFICE_HOME. With --issue: where NAME.crt, NAME.key and ca.crt go.")
    var folder: String?

    @Option(help: ArgumentHelp("Issue one certificate for NAME.boxoffice from the authority in $BOXOFFICE_HOME.", valueName: "name"))
    var issue: String?

    @Option(help: ArgumentHelp("With --issue: the host that the certificate is for; hosts have keys of their own.", valueName: "host"))
    var host: String?

    @Flag(help: .hidden)
    var whileRunning = false

    @Flag(help: "Print JSON.")
    var json = false

    package init() {}

    package func validate() throws {
        if let host { try HostPlan.check(host, option: "--host") }
        guard let issue else {
            guard host == nil else { throw ValidationError("--host needs --issue: whose certificate it is") }
            return
        }
        guard issue.wholeMatch(of: /[a-z][a-z0-9-]{0,40}/) != nil else {
            throw ValidationError("--issue '\(issue)' is not a name: lower-case letters, digits and '-', a letter first, without '.boxoffice'")
        }
        guard folder != nil else { throw ValidationError("--issue needs --folder: where the files go") }
    }

    package func run() async throws {
        let console = Console(isQuiet: json)
        let home = ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current)
        if whileRunning { return await CertificateRenewer(home: home).run(until: StopSignals()) }
        if let issue, let folder { return try run(issuing: issue, to: URL(fileURLWithPath: folder), home, console) }
        let pki = LocalPki(folder: folder.map { URL(fileURLWithPath: $0) } ?? home.pki)
        if folder == nil {
            try home.prepare()
        } else {
            try Self.make(pki.folder)
        }
        let made = try pki.ensure()
        console.line(
            made.isEmpty ? "\(pki.folder.path): all keys and certificates are there" : "\(pki.folder.path): made \(made.joined(separator: ", "))")
        if json { try JsonOutput.show(["folder": pki.folder.path, "made": made]) }
    }

    private static func make(_ folder: URL) throws {
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandFailure(
                "cannot make the folder \(folder.path) (\(PlainReason.of(error)))", advice: "give another with --folder", exit: .usage)
        }
    }

    private func run(issuing name: String, to folder: URL, _ home: ClusterHome, _ console: Console) throws {
        try home.prepare()
        let pki = LocalPki(folder: home.pki)
        try pki.ensure()
        try Self.make(folder)
        let isMade = try pki.issue(name, host: host, to: folder)
        let files = "\(name).crt, \(name).key and ca.crt for \(name).boxoffice" + (host.map { " on \($0)" } ?? "")
        console.line(isMade ? "\(folder.path): made \(files)" : "\(folder.path): \(files) are there, with more than a third of their time left")
        if json {
            try JsonOutput.show(["folder": folder.path, "name": "\(name).boxoffice", "made": isMade ? ["\(name).crt", "\(name).key", "ca.crt"] : []])
        }
    }
}

/// Renews the certificates of a local cluster for as long as it runs, in a process of its own. No service needs the authority's key, and `up` may
/// have ended.
struct CertificateRenewer: Sendable {
    let home: ClusterHome
    /// It looks whether the cluster runs still this often.
    var checkInterval: Duration = .seconds(2)

    private var pki: LocalPki { LocalPki(folder: home.pki) }

    /// Starts the process, unless one is there.
    /// - Parameter binaries: Where this program is.
    static func start(_ home: ClusterHome, binaries: URL) {
        let program = binaries.appendingPathComponent("boxoffice")
        guard FileManager.default.isExecutableFile(atPath: program.path), !isThere(home) else { return }
        // Without it the cluster works as well, until its certificates end, of which Prometheus warns.
        _ = try? ServiceProcess.spawn(
            program, arguments: ["pki", "--while-running"],
            environment: ["BOXOFFICE_HOME": home.root.path, "BOXOFFICE_LOG_FILE": home.certificateRenewalLog.path], log: home.certificateRenewalLog)
    }

    private static func isThere(_ home: ClusterHome) -> Bool {
        guard let turn = takeTurn(home) else { return true }
        close(turn)
        return false
    }

    /// - Returns: A descriptor that says that a renewing process is there until it is closed; `nil`: another one is.
    private static func takeTurn(_ home: ClusterHome) -> Int32? {
        let turn = open(home.root.appendingPathComponent("keeper").path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard turn >= 0 else { return nil }
        guard flock(turn, LOCK_EX | LOCK_NB) != 0 else { return turn }
        close(turn)
        return nil
    }

    /// Returns when the cluster has ended, when a signal comes, or at once when there is such a process already.
    func run(until signals: StopSignals) async {
        guard let turn = Self.takeTurn(home) else { return }
        defer { close(turn) }
        ProgramLog.begin("pki")
        // By the time of day too: a clock that is put forward makes certificates end early.
        let (clock, start) = (SystemClock(), ContinuousClock.now)
        var (next, nextByDay) = (start, clock.now())
        var trouble: String?
        var misses = 0
        while misses < 2, !signals.haveCome {
            if next <= .now || nextByDay <= clock.now() {
                trouble = renew(besides: trouble)
                let interval = pki.renewalInterval
                (next, nextByDay) = (.now + interval, clock.now() + interval)
            }
            try? await Task.sleep(for: checkInterval)
            misses = isRunning ? 0 : misses + 1
        }
        ProgramLog.close()
    }

    private var isRunning: Bool { (try? ClusterFile.read(home))?.processes.contains(where: \.isRunning) ?? false }

    /// - Parameter trouble: The trouble that was told already.
    /// - Returns: Why it failed.
    private func renew(besides trouble: String?) -> String? {
        do {
            let renewed = try pki.renew()
            if !renewed.isEmpty { Self.log(.info, "pki.renewed", ["certificates": "\(renewed.joined(separator: " "))"]) }
            return nil
        } catch {
            let reason = PlainReason.of(error)
            if reason != trouble { Self.log(.error, "pki.not_renewed", ["reason": "\(reason)"]) }
            return reason
        }
    }

    private static func log(_ level: Logger.Level, _ event: String, _ fields: Logger.Metadata) {
        var logger = Logger(label: "pki") { _ in JsonLogHandler(program: "pki") }
        logger.logLevel = .info
        logger.log(level: level, "\(event)", metadata: fields)
    }
}

extension ClusterHome {
    var certificateRenewalLog: URL { logs.appendingPathComponent("pki.log") }
}
