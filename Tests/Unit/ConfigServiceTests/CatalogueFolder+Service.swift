import CatalogueSamples
import ConfigService
import Logging
import Storage
import StorageSqlite

extension CatalogueFolder {
    static let noKeys = #"{"keys":[]}"#
    static let silent = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    func store() throws -> Store {
        try Store(file: path + "/config.sqlite", name: "config", migrations: CatalogueStore.migrations)
    }

    func keeper(_ store: Store, keys: String = noKeys) -> CatalogueKeeper {
        CatalogueKeeper(
            file: file, store: CatalogueStore(store), statementKeys: { keys }, clock: clock,
            logger: Self.silent)
    }
}
