package import ArgumentParser
internal import CommandKit
internal import Foundation

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
        if whileRunning { return await PkiKeeper(home: home).run(until: StopSignals()) }
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
