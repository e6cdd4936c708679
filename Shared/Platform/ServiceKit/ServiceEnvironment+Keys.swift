internal import Faults
internal import Foundation
public import Storage

extension ServiceEnvironment {
    /// Where a key is: in the file that the settings name, or in the data folder, where it is made at the first start.
    /// - Parameters:
    ///   - named: The files that the settings name.
    ///   - file: Its name in the data folder otherwise.
    ///   - setting: Where the settings could name one, for the message.
    /// - Throws: `StartFailure` when it cannot be made.
    public func keyFile(_ named: String?, else file: String, _ kind: MadeKey.Kind, setting: String) throws(StartFailure) -> String {
        if let named { return named }
        let path = dataFile(file)
        do throws(MadeKey.Unusable) {
            try MadeKey.ensure(path, kind)
        } catch {
            throw StartFailure("\(error) (or name a file under \(setting))")
        }
        return path
    }

    /// The same for a key that seals rows of a store. None is made beside rows that another one has sealed, which it could not open.
    /// - Parameter table: Whose rows they are.
    /// - Throws: `StartFailure` when it cannot be made, or such rows are there; `CancellationError`.
    public func keyFile(
        _ named: String?, else file: String, _ kind: MadeKey.Kind, setting: String, sealing table: String, in store: Store
    ) async throws -> String {
        let path = dataFile(file)
        if named == nil, !FileManager.default.fileExists(atPath: path) {
            let rows: Int
            do {
                rows = try await ask(store) { try await store.value(Statement("SELECT count(*) FROM \(table)")) ?? 0 }
            } catch let error as Fault {
                throw StartFailure("store \(store.place): \(table) cannot be read (\(error.cause ?? error))")
            }
            guard rows == 0 else {
                throw StartFailure(
                    """
                    \(path) is not there, and \(rows) rows of the table \(table) in \(store.place) are sealed by it: restore the file from the backup of keys, or name it \
                    under \(setting). Where it is lost, run DELETE FROM \(table), start, and write these secrets anew
                    """)
            }
        }
        return try keyFile(named, else: file, kind, setting: setting)
    }
}
