import AuthenticationAdministration
import AuthenticationCore
import Foundation
import Storage
import StorageSqlite

/// A filled store, opened as the service opens it.
struct FilledStore {
    let sessions: Int
    /// How many of them a device has.
    let perDevice: Int
    let file: String
    /// The time of opening it.
    let openingSeconds: Double
    /// Resident memory of this process that opening it took.
    let openingBytes: Int
    private let store: Store
    /// With the service's cache at its least, so that every read asks the database.
    let database: SessionProbe
    /// With the service's cache as the service has it.
    let service: SessionProbe

    init(file: String, sessions: Int, perDevice: Int) throws {
        (self.file, self.sessions, self.perDevice) = (file, sessions, perDevice)
        let (memory, start) = (Self.residentBytes(), ContinuousClock.now)
        store = try Store(file: file, name: "authentication", migrations: AuthenticationDatabase.migrations)
        openingSeconds = (ContinuousClock.now - start) / .seconds(1)
        openingBytes = Self.residentBytes() - memory
        database = SessionProbe(AuthenticationDatabase(store, cachedSessions: 2))
        service = SessionProbe(AuthenticationDatabase(store))
    }

    func close() async { await store.close() }

    var fileBytes: Int { (try? FileManager.default.attributesOfItem(atPath: file)[.size] as? Int) ?? 0 }

    /// Reads the whole file, so that the system has it in memory as far as there is room.
    /// - Returns: Seconds.
    func warm() throws -> Double {
        let start = ContinuousClock.now
        let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: file))
        defer { try? handle.close() }
        while let bytes = try handle.read(upToCount: 8 << 20), !bytes.isEmpty {}
        return (ContinuousClock.now - start) / .seconds(1)
    }

    /// Field 2 of /proc/self/statm: resident pages (proc(5)).
    static func residentBytes() -> Int {
        let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
        return fields.count > 1 ? (Int(fields[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE))) : 0
    }
}
