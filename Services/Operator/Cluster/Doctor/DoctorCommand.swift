package import ArgumentParser
internal import CommandKit
internal import Foundation

/// `boxoffice doctor`: what is wrong with the local cluster, and what to do.
package struct DoctorCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Examine the local cluster: what is wrong, and what to do about it.",
        discussion: """
            Looks at the folder of the cluster, settings, keys, certificates, the clock, the disk, ports, programs and the catalogue, and changes nothing. \
            Each server of an MVPD or upstream gets one GET of its root: can it be reached, do its clock and certificate hold? All of that takes seconds, \
            also where servers hang. Without a running cluster it looks at what there is. Ends with 0 when nothing is wrong (there may be notes), with 1 when something is.
            """)

    @Flag(help: "Print JSON.")
    var json = false

    package init() {}

    package func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        let home = ClusterHome(environment: environment, checkout: Checkout.current)
        var doctor = Doctor(home: home, ports: try PortPlan(environment: environment), binaries: Checkout.binaries)
        do {
            doctor.cluster = try ClusterFile.read(home)
        } catch {
            doctor.damage = PlainReason.of(error)
        }
        let diagnosis = try await doctor.diagnosis()
        let console = Console()
        if json {
            console.line(try JsonOutput.text(diagnosis))
        } else {
            for line in diagnosis.lines(console) { console.line(line) }
        }
        guard diagnosis.isWell else { throw CommandExit.failed.exitCode }
    }
}
