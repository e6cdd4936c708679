internal import Foundation

/// A program of a cluster as it is now.
struct ProgramStatus: Sendable, Encodable {
    enum State: String, Sendable, Encodable {
        case ready
        /// It runs, and cannot do its work.
        case notReady
        case notRunning
    }

    /// Whose program it is.
    enum Kind: String, Sendable, Encodable {
        case own
        /// Somebody's own service in place of the cluster's.
        case replaced
        /// Played in the memory of `boxoffice run`.
        case double
        /// A program on one of the cluster's hosts.
        case host
    }

    /// The latest line of its log that reports an error.
    struct LastError: Sendable, Encodable {
        /// As the line has it.
        let time: String
        let event: String
        let fields: [String: String]
        /// The line of the log.
        let line: String
        /// As a person reads it.
        let text: String

        enum CodingKeys: String, CodingKey { case time, event, fields, line }
    }

    /// The copy's: `authentication-2`; on a host `authentication at a1`.
    let name: String
    let kind: Kind
    /// Where it answers.
    let address: String
    var state: State
    /// What keeps it from being ready.
    var reasons: [String] = []
    /// What is worth knowing though it is ready.
    var notes: [String] = []
    var pid: Int32?
    var since: Date?
    var residentBytes: Int?
    var version: String?
    /// `debug` or `release`.
    var build: String?
    /// Of the catalogue that it works with.
    var catalogueVersion: UInt64?
    var lastError: LastError?

    var isReady: Bool { state == .ready }
}

/// The programs of a cluster as they are now.
struct ClusterStatus: Sendable, Encodable {
    let home: String
    let isReady: Bool
    let programs: [ProgramStatus]
    /// Where people administer it.
    let console: String?

    init(home: String, programs: [ProgramStatus], console: String? = nil) {
        (self.home, self.programs, self.console) = (home, programs, console)
        isReady = programs.allSatisfy(\.isReady)
    }
}
