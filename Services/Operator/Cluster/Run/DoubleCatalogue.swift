internal import CatalogueFiles
package import Clocks
internal import CommandKit
package import Contracts
internal import Foundation

/// The configuration that a config double serves: a catalogue file as a service would have it.
package struct DoubleCatalogue {
    let file: String
    /// True: a decision point that the catalogue names is there; false: whoever is signed in may watch.
    let hasDecisionPoints: Bool

    package init(file: String, hasDecisionPoints: Bool) {
        self.file = file
        self.hasDecisionPoints = hasDecisionPoints
    }

    /// - Throws: `CommandFailure` with the file's problems.
    package func configuration(clock: any WallClock = SystemClock()) throws -> Configuration {
        let now = clock.now()
        var configuration: Configuration
        do {
            configuration = try CatalogueFile(path: file).read(now: now).configuration
        } catch {
            throw CommandFailure("the catalogue cannot be used", advice: error.lines.joined(separator: "\n"))
        }
        // Greater than in every earlier run: a service with state of one keeps the greatest.
        configuration.version = UInt64(clamping: now.milliseconds)
        configuration.changedAtMilliseconds = UInt64(clamping: now.milliseconds)
        for index in configuration.applications.indices {
            configuration.applications[index].softwareIDs = ["double-\(configuration.applications[index].id)"]
        }
        if !hasDecisionPoints {
            for index in configuration.mvpds.indices { configuration.mvpds[index].authorization?.protocol = .none }
        }
        return configuration
    }
}
