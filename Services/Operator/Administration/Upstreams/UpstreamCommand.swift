package import ArgumentParser

/// `boxoffice upstream`: what signs people in and decides in place of MVPDs.
package struct UpstreamCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "upstream", abstract: "Check the upstreams of the bridge, take in what they offer, see how they are, and tape what they say.",
        subcommands: [
            UpstreamCheckCommand.self, UpstreamImportCommand.self, UpstreamStatusCommand.self, UpstreamResetCommand.self, UpstreamRecordCommand.self,
            UpstreamReplayCommand.self, UpstreamTryCommand.self,
        ])

    package init() {}
}
