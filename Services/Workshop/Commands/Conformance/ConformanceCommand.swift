package import ArgumentParser
internal import CommandKit
internal import ContractConformance
internal import Foundation
internal import ServiceKit

/// `boxoffice conformance SERVICE`: tries a contract on an implementation.
package struct ConformanceCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "conformance",
        abstract: "Try every requirement of a service's contract on an implementation of it.",
        discussion: """
            The requirements are those of Shared/Wire/Contracts: WIRE.md and the .proto files. With --address it examines what answers there; \
            without, the service of this checkout, which it starts for that. It calls as the operator: the implementation has to allow that name, \
            'operator.boxoffice', unless --certificate says who calls.

            An implementation that calls peers finds them here: they are played at the ports from --peers-port on (config, then authentication), \
            with certificates from the same folder. Start the tool, then the implementation; it waits for it.

            --level minimal tries what a new implementation needs first, before any method of its own: connections, calls, streams, health.

            Exit code 0: every requirement is met; 1: one is not; 4: the implementation could not be examined.
            """
    )

    enum Level: String, ExpressibleByArgument, CaseIterable {
        case minimal
        case full
    }

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text
        case json
        case junit
    }

    @Argument(help: "config, authentication, authorization or autosignin.", completion: .rpcServices)
    var service: String

    @Option(help: "Where the implementation listens, host:port; default: the service of this checkout is started.")
    var address: String?

    @Option(
        help: "Folder of a cluster, or another with a folder 'pki' as 'boxoffice pki' makes it; default: a temporary one.", completion: .directory)
    var home: String?

    @Option(name: .customLong("ca"), help: "The authority of the implementation's certificate, PEM, in place of --home.")
    var authority: String?

    @Option(help: "The certificate with which to call, PEM, in place of --home.")
    var certificate: String?

    @Option(help: "Its key, PEM.")
    var key: String?

    @Option(name: .customLong("peers-port"), help: "First port of the peers that are played.")
    var peersPort: Int?

    @Option(help: "A shell command that makes a Config service publish another version; what needs one is not applicable without it.")
    var change: String?

    @Option(
        help:
            "A shell command that kills the implementation and starts it again on its state; what is to outlive that is not applicable without it.")
    var restart: String?

    @Option(help: "Seconds to wait for the implementation to answer.")
    var wait: Double = 30

    @Option(help: "text, json or junit.")
    var format = Format.text

    @Option(help: "minimal: what callers need before a method of the service's own can work; full: the whole contract.")
    var level = Level.full

    @Option(help: "Try only these requirements, for example WIRE-12,CONFIG-7.")
    var only: String?

    @Flag(help: "List the requirements, and try none.")
    var list = false

    package init() {}

    package func validate() throws {
        guard ExaminedService(rawValue: service) != nil else {
            throw ValidationError("'\(service)' has no contract to try; there are config, authentication, authorization and autosignin")
        }
        guard [authority, certificate, key].allSatisfy({ $0 != nil }) || [authority, certificate, key].allSatisfy({ $0 == nil }) else {
            throw ValidationError("--ca, --certificate and --key go together")
        }
        guard authority == nil || address != nil else { throw ValidationError("--ca, --certificate and --key go with --address") }
        guard authority == nil || home == nil || peersPort != nil else { throw ValidationError("--home and --ca say the same; give one of them") }
        guard (0...3600).contains(wait) else { throw ValidationError("--wait takes 0 to 3600 seconds") }
        guard peersPort.map({ (1024...65_000).contains($0) }) ?? true else { throw ValidationError("--peers-port takes 1024 to 65000") }
        _ = try selection()
    }

    package func run() async throws {
        // Checked by validate.
        guard let service = ExaminedService(rawValue: service) else { return }
        if list { return printList(service) }
        var options = ConformanceOptions(
            service: service, address: address, home: home, authority: authority, certificate: certificate, key: key, peersPort: peersPort,
            change: change, restart: restart, wait: .milliseconds(Int64(wait * 1000)))
        // A cluster that runs here has the ports of the default plan, and is not what is examined.
        let environment = ProcessInfo.processInfo.environment
        options.ports = environment["BOXOFFICE_PORT_BASE"]?.isEmpty == false ? try PortPlan(environment: environment) : try .free()
        let console = Console(isQuiet: format != .text)
        let report: ConformanceReport
        do {
            report = try await ConformanceSession(options: options, console: console).examine(try selection())
        } catch let failure as CommandFailure {
            CommandExit.explain(failure.description)
            throw CommandExit.ofStart(failure).exitCode
        }
        switch format {
        case .text: ConformanceText(console: console).print(report, isMinimal: level == .minimal)
        case .json: StandardStream.output.writeOrEnd(Data(try report.json().utf8))
        case .junit: StandardStream.output.writeOrEnd(Data(report.junit.utf8))
        }
        if !report.isConforming { throw CommandExit.failed.exitCode }
    }

    private func selection() throws -> [Requirement]? {
        guard let service = ExaminedService(rawValue: service) else { return nil }
        guard let only else { return level == .minimal ? service.minimalRequirements : nil }
        guard level == .full else { throw ValidationError("--only and --level both choose requirements; give one of them") }
        let ids = only.split(separator: ",").map(String.init)
        let known = service.requirements
        for id in ids where !known.contains(where: { $0.id == id }) {
            throw ValidationError("'\(id)' is not a requirement of \(service.rawValue); --list shows them")
        }
        return known.filter { ids.contains($0.id) }
    }

    private func printList(_ service: ExaminedService) {
        let listed = level == .minimal ? service.minimalRequirements : service.requirements
        switch format {
        case .text:
            let console = Console()
            for requirement in listed {
                console.line("\(requirement.id.padding(toLength: 10, withPad: " ", startingAt: 0)) \(requirement.sentence)")
                console.line(console.faint("           \(requirement.source)"))
            }
        case .json, .junit:
            let rows = listed.map { ["id": $0.id, "sentence": $0.sentence, "source": $0.source] }
            let data = try? JSONSerialization.data(withJSONObject: rows, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
            StandardStream.output.writeOrEnd((data ?? Data()) + Data("\n".utf8))
        }
    }
}

/// A report for the person at the terminal.
struct ConformanceText {
    let console: Console

    /// One line as soon as a requirement was tried; a failure includes its reason.
    func line(_ result: RequirementResult) {
        let id = result.id.padding(toLength: 11, withPad: " ", startingAt: 0)
        switch result.verdict {
        case .passed: console.line("  \(console.good("pass"))  \(id) \(result.sentence)")
        case .notApplicable:
            console.line(console.faint("  n/a   \(id) \(result.sentence)"))
            console.line(console.faint("                    \(result.reason ?? "")"))
        case .failed:
            console.line("  \(console.bad("FAIL"))  \(id) \(result.sentence)")
            result.details.forEach { console.line("                    \($0)") }
        }
    }

    /// - Parameter isMinimal: Only what a new implementation needs first was tried.
    func print(_ report: ConformanceReport, isMinimal: Bool = false) {
        let verdict = report.isConforming ? console.good("conforms") : console.bad("does not conform")
        console.line("\n  \(report.service) at \(report.address) \(verdict): \(report.summary)")
        let failed = report.results.filter { $0.verdict == .failed }.map(\.id)
        if !failed.isEmpty { console.line("  failed: \(failed.joined(separator: ", "))") }
        if isMinimal { console.line("  That was the minimal level; --level full tries the whole contract.") }
    }
}
