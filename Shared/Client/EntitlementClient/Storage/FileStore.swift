internal import Octets
public import Foundation

/// Keeps each entry in a file of one folder, readable by its owner only.
public struct FileStore: SecureStore {
    private let folder: URL

    /// - Parameter folder: Made at the first write. Two programs must not share one.
    public init(folder: URL) { self.folder = folder }

    public func read(_ entry: StoreEntry) throws(StoreFailure) -> Data? {
        do {
            return try Data(contentsOf: file(entry))
        } catch CocoaError.fileReadNoSuchFile, CocoaError.fileNoSuchFile {
            return nil
        } catch {
            throw failure(error, entry)
        }
    }

    public func write(_ content: Data, to entry: StoreEntry) throws(StoreFailure) {
        let files = FileManager.default
        let (target, draft) = (file(entry), file(entry).appendingPathExtension("new"))
        do {
            try files.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try? files.removeItem(at: draft)
            guard files.createFile(atPath: draft.path, contents: nil, attributes: [.posixPermissions: 0o600]) else {
                throw CocoaError(.fileWriteUnknown)
            }
            let handle = try FileHandle(forWritingTo: draft)
            do {
                try handle.write(contentsOf: content)
                try handle.synchronize()
                try handle.close()
            } catch {
                try? handle.close()
                try? files.removeItem(at: draft)
                throw error
            }
            // rename(2) replaces in one step: readers and crashes see the old or the new file.
            guard rename(draft.path, target.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            throw failure(error, entry)
        }
    }

    public func remove(_ entry: StoreEntry) throws(StoreFailure) {
        do {
            try FileManager.default.removeItem(at: file(entry))
        } catch CocoaError.fileNoSuchFile, CocoaError.fileReadNoSuchFile {
            return
        } catch {
            throw failure(error, entry)
        }
    }

    private func file(_ entry: StoreEntry) -> URL { folder.appendingPathComponent("\(entry.rawValue).entry") }

    private func failure(_ error: any Error, _ entry: StoreEntry) -> StoreFailure {
        let facts = error as NSError
        return StoreFailure(Self.isFull(error) ? .full : .unavailable, entry, "\(facts.domain) \(facts.code)")
    }

    /// True when an error, or the one behind it, says that there is no room.
    static func isFull(_ error: any Error) -> Bool {
        let error = error as NSError
        let causes = [error, (error.userInfo[NSUnderlyingErrorKey] as? any Error).map { $0 as NSError }]
        return causes.compactMap(\.self).contains { cause in
            cause.domain == NSPOSIXErrorDomain && [Int(ENOSPC), Int(EDQUOT)].contains(cause.code)
                || cause.domain == NSCocoaErrorDomain && cause.code == CocoaError.fileWriteOutOfSpace.rawValue
        }
    }
}
