import CatalogueSamples
import ConfigService
import Logging
import Storage

extension CatalogueFolder {
    static let noKeys = #"{"keys":[]}"#
    static let silent = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    func store(_ engine: ConfigEngine = .current) throws -> Store { try engine.open(path) }

    func keeper(_ store: Store, keys: String = noKeys) -> CatalogueKeeper {
        CatalogueKeeper(
            file: file, store: CatalogueStore(store), statementKeys: { keys }, clock: clock,
            logger: Self.silent)
    }
}
