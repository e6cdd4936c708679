package import ArgumentParser

/// `boxoffice store`: what operators get around the stores of services.
package struct StoreCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "store", abstract: "Check, save and restore stores of services, and move them from SQLite to PostgreSQL.",
        discussion: """
            Each service's own program says where its store is and what its schema is. Without --settings the stores are those of the cluster in \
            $BOXOFFICE_HOME.
            """,
        subcommands: [
            StoreCheckCommand.self, StoreBackupCommand.self, StoreRestoreCommand.self, StoreMigrateCommand.self, StorePrepareCommand.self,
        ])

    package init() {}
}
