package import ArgumentParser
internal import ContractRuntime
internal import Contracts
internal import Foundation
internal import ServiceKit

/// `boxoffice version`: what this program is, for a report of a fault.
package struct VersionCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "version", abstract: "Say which version this is, of which commit, and which contracts it speaks.")

    @Flag(help: "Print JSON.")
    var json = false

    package init() {}

    /// One message of each contract that services answer to.
    private static let messages: [any Message.Type] = [
        Configuration.self, AccessToken.self, Decision.self, IssuedToken.self,
    ]

    /// The contracts by their packages, whose last part is their version.
    static var contracts: [String] {
        messages.map { message in String(message.messageName.prefix(upTo: message.messageName.lastIndex(of: ".") ?? message.messageName.endIndex)) }
            .sorted()
    }

    package func run() throws {
        guard json else {
            print("boxoffice \(SoftwareVersion.description)")
            print("contracts \(Self.contracts.joined(separator: " "))")
            return
        }
        struct Report: Encodable {
            let version: String
            let build: String
            let commit: String
            let contracts: [String]
        }
        let report = Report(
            version: SoftwareVersion.current, build: SoftwareVersion.build, commit: SoftwareVersion.commit, contracts: Self.contracts)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        print(String(decoding: try encoder.encode(report), as: UTF8.self))
    }
}
