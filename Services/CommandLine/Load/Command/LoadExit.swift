internal import ArgumentParser
internal import Foundation
internal import ServiceKit

/// How `boxoffice load` ends.
enum LoadExit {
    static let assertionFailed = ExitCode(1)
    static let usage = ExitCode(2)
    static let couldNotRun = ExitCode(3)

    /// Says why it ends, on standard error.
    static func explain(_ reason: String) {
        StandardStream.error.writeOrEnd(Data("boxoffice load: \(reason)\n".utf8))
    }
}
