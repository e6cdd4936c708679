/// A JSON value that does not fit its message.
public struct JsonMessageRejection: Error, CustomStringConvertible {
    /// Bytes before the value in the JSON text.
    public let offset: Int
    /// Where the value stands and what is wrong with it, for example `call.deviceId: must be a string; it is a number`.
    public let description: String
}
