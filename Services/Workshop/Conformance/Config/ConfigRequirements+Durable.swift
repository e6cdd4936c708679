internal import Contracts

extension ConfigRequirements {
    static let durable = [
        Requirement(
            "CONFIG-23",
            "A version that was served outlives the service's process: afterwards the number is not lower, and an equal number has equal content.",
            source: "config.proto Config, Configuration.version", isDisruptive: true
        ) { examination in
            let before = try await examination.greet().configuration()
            try await examination.restart()
            let after = try await examination.greet().configuration()
            guard after.version > before.version || after == before else {
                let isSame = after.version == before.version
                throw Unmet(
                    "version \(before.version) with its content, or a greater one",
                    came: "version \(after.version)\(isSame ? " with other content" : "")")
            }
        },
        Requirement(
            "CONFIG-24",
            "A software statement outlives the process that issued it: statement_keys still verify it, and its application still lists its id.",
            source: "config.proto Configuration.statement_keys, SoftwareStatement.software_id", isDisruptive: true
        ) { examination in
            let conversation = try await examination.greet()
            let application = try application(try await conversation.configuration()) { !$0.softwareIDs.isEmpty }
            let issued = try await conversation.statement(of: application.id)
            try await examination.restart()
            let after = try await examination.greet().configuration()
            try verify(issued, after)
            let listed = after.applications.first { $0.id == application.id }?.softwareIDs ?? []
            guard listed.contains(issued.softwareID) else { throw Unmet("one of \(listed)", came: issued.softwareID) }
        },
    ]
}
