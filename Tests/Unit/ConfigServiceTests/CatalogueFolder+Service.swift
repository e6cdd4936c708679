import CatalogueSamples
import ConfigService
import Logging
import Storage
import Tokens

extension CatalogueFolder {
    static let noKeys: [JSONWebKey] = []
    static let silent = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    func store(_ engine: ConfigEngine = .current) throws -> Store { try engine.open(path) }

    func watcher(_ store: Store) -> CatalogueFileWatcher {
        CatalogueFileWatcher(file: file, store: CatalogueStore(store), statementKeys: { Self.noKeys }, clock: clock, logger: Self.silent)
    }
}
