use super::protocol::Answer;
use crate::call_error::CallError;
use crate::env::{Address, Env};
use crate::stream::{Stream, connect};
use std::time::Duration;

pub struct Session {
    env: Env,
    address: Address,
    timeout: Duration,
    open: Option<Stream>,
}

impl Session {
    pub fn new(env: &Env, address: &Address, timeout: Duration) -> Session {
        Session { env: env.clone(), address: address.clone(), timeout, open: None }
    }

    pub async fn call(&mut self, request: &[u8]) -> Result<Answer, CallError> {
        let may_be_replaced = self.open.is_some();
        match self.attempt(request).await {
            Err(CallError::Unsent(_)) if may_be_replaced => self.attempt(request).await,
            outcome => outcome,
        }
    }

    /// Moves the connection out of the session, so that dropping the call closes the connection.
    async fn attempt(&mut self, request: &[u8]) -> Result<Answer, CallError> {
        let mut open = match self.open.take() {
            Some(open) => open,
            None => self.connect().await?,
        };
        open.limit(self.timeout);
        let answer = exchange(&mut open, request).await;
        open.lift_limit();
        if matches!(answer, Ok(_) | Err(CallError::Server(_))) && open.input.is_empty() {
            self.open = Some(open);
        }
        answer
    }

    async fn connect(&self) -> Result<Stream, CallError> {
        let socket = connect(&self.env, &self.address, self.timeout).await?;
        Ok(Stream::new(socket, self.timeout))
    }
}

async fn exchange(open: &mut Stream, request: &[u8]) -> Result<Answer, CallError> {
    open.send(request).await?;
    loop {
        if let Some(answer) = Answer::take_from(&mut open.input)? {
            return Ok(answer);
        }
        open.read().await?;
    }
}
